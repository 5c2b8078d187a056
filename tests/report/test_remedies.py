"""What a report advises where most replies of a model have no readable answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_puma.core import Outcome, TaskInfo
from pytest_puma.report import notes
from pytest_puma.report.remedies import remedies
from tests.factories import outcome, run

LLAMA = {"weights_sha256": "0" * 64, "chat": "True"}
MOST = "q: most replies of triage-zero_shot@q have no readable answer; try "
SCORED = "--puma-strategy option_scoring or constrained, which always give one"
LONGER = "a larger --puma-max-tokens, as most were cut off"
PLAIN = "chat=off, if it is a base model"


def cell(cell_id: str = "triage-zero_shot@q", *, engine: Mapping[str, str] = LLAMA, **causes: int) -> Outcome:
    return outcome(cell_id, failures=causes, signature={"engine": engine})


CASES: Mapping[str, tuple[Outcome, list[str]]] = {
    "no answer in the replies": (cell(unparsed=26), [SCORED, PLAIN]),
    "replies that were cut off": (cell(truncated=20, empty=6), [SCORED, LONGER, PLAIN]),
    "plain prompts": (cell(unparsed=26, engine={**LLAMA, "chat": "False"}), [SCORED]),
    "a server, which may not score": (cell(truncated=26, engine={"server_model": "q"}), [LONGER]),
}


@pytest.mark.parametrize("case", CASES)
def test_remedies_are_those_that_apply(case: str) -> None:
    unread, advice = CASES[case]
    assert list(remedies([unread])) == [MOST + "; or ".join(advice)]


def test_numbers_are_held_to_a_grammar_and_texts_to_nothing() -> None:
    def asked(kind: str) -> Outcome:
        fields: dict[str, Any] = {"failures": {"unparsed": 26}, "signature": {"engine": {**LLAMA, "chat": "False"}}}
        return outcome("triage-zero_shot@q", task=TaskInfo(type=kind), **fields)

    assert list(remedies([asked("regression")])) == [MOST + "--puma-strategy constrained, which always gives one"]
    assert list(remedies([asked("completion")])) == []


@pytest.mark.parametrize("unread", [cell(unparsed=25), cell(overflow=50), cell()])
def test_where_half_of_the_replies_are_read_or_prompts_are_too_long_there_is_none(unread: Outcome) -> None:
    assert list(remedies([unread])) == []


def test_a_model_has_one_line_among_the_warnings() -> None:
    cells = [cell(f"triage-{strategy}@q", unparsed=40) for strategy in ("zero_shot", "egi", "rcoif")]
    (note,) = notes.warnings(run(*cells, cell("triage-zero_shot@n")))
    assert str(note) == f"warning: {MOST}{SCORED}; or {PLAIN}".replace("@q have", "@q and 2 more have")
