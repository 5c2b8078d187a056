"""What a judge wrote and decided about a reply, and what its program did, on the page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from pytest_puma.core import JUDGE, SANDBOX, Message, Outcome, Prediction, Response, Transcript, Turn
from pytest_puma.core.prediction import changed
from pytest_puma.planning.reports import PageSettings
from pytest_puma.report.page.page import as_page
from tests.factories import outcome, prediction
from tests.report.page.page import Page
from tests.report.page.scripted import recorded

CELL = "notes-zero_shot@m"
ASKED = (Message(role="user", content="Is it short?"),)


def verdict(*logprobs: float) -> Turn:
    response = Response(logprobs=logprobs, finish="scored")
    return Turn(prompt=ASKED, continuations=("yes", "no"), response=response, metric="judge.short")


def judged(sample: str, *turns: Turn) -> Prediction:
    program = Turn(prompt=(Message(role="user", content="assert f() == 1"),), response=Response(text="AssertionError"))
    made = prediction(sample, answer="A", raw=("a reply",))
    return changed(made, transcripts={**made.transcripts, JUDGE: Transcript(turns), SANDBOX: Transcript((program,))})


def cell(*predictions: Prediction) -> Outcome:
    return outcome(CELL, predictions=predictions, trials=len(predictions))


def findings(root: Path, made: Outcome, settings: PageSettings | None = None) -> list[list[dict[str, Any]]]:
    run = recorded(root, [made])
    page = Page(as_page(run.run, run.path, settings or PageSettings()))
    return [row["findings"] for row in page.block("t0")["rows"]]


def test_a_reply_has_the_reasons_and_the_probabilities_of_the_verdicts_and_its_program(tmp_path: Path) -> None:
    reasons = Turn(prompt=ASKED, response=Response(text="One sentence."), metric="judge.short")
    made = cell(
        judged("a", reasons, verdict(math.log(0.06), math.log(0.02))), judged("b", verdict(-math.inf, -math.inf))
    )
    judge = {"role": "judge", "metric": "judge.short"}
    program = {"role": "sandbox", "metric": "", "text": "AssertionError", "program": "assert f() == 1"}
    assert findings(tmp_path, made) == [
        [
            {**judge, "text": "One sentence."},
            {**judge, "text": "", "verdicts": [["yes", 0.75], ["no", 0.25]]},
            program,
        ],
        [{**judge, "text": "", "verdicts": []}, program],
    ]


def test_a_prompt_beyond_the_context_of_the_judge_has_no_verdict(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, cell(judged("a", verdict())))
    assert found[0]["verdicts"] == []


def test_long_findings_are_cut_with_the_other_texts(tmp_path: Path) -> None:
    text = "".join(map(chr, range(0x4E00, 0x9000)))
    reasons = Turn(prompt=ASKED, response=Response(text=text), metric="judge.short")
    empty = len(as_page(recorded(tmp_path / "empty", [cell(judged("a"))]).run, None).encode()) / 1_000_000
    many = cell(*(judged(f"s{row}", reasons) for row in range(40)))
    found = findings(tmp_path / "full", many, PageSettings(megabytes=round(empty + 0.2, 2)))
    (kept,) = {row[0]["text"] for row in found}
    assert text.startswith(kept)
    assert 300 <= len(kept) < len(text)
