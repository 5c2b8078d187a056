"""The labelled replies about which people and the judge disagree, on the page without JavaScript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma import CompletionScenario, rubric
from pytest_puma.core import Outcome
from pytest_puma.planning.reports import PageSettings
from pytest_puma.report.page.page import as_page
from pytest_puma.testing import Engine, ScriptedBackend
from tests.composed import written
from tests.factories import cell, evaluated
from tests.report.page.page import Page
from tests.report.page.scripted import recorded

HEADER = ["cell", "metric", "sample", "question", "reply", "people", "judge"]
CALM = rubric("calm", "Is the reply calm?", reasons=0)
LOUD = rubric("loud", "Which one is louder?", shows=("pair",), reasons=0)


class Letters(CompletionScenario):
    """Complaints with replies that people labelled."""

    name = "letters"
    key = "id"

    def instruction(self, item: dict[str, Any]) -> str:
        return item["complaint"]  # type: ignore[no-any-return]

    def truth(self, item: dict[str, Any]) -> None:  # noqa: ARG002
        return None

    def context(self, item: dict[str, Any]) -> dict[str, Any]:
        return {"rival": item.get("rival")}


def letters(root: Path, *rows: dict[str, Any], metric: Any = CALM, judge: Any = None) -> Outcome:
    """People label replies; the judge finds those about a crash not calm."""
    judge = judge or (lambda text: "no" if "> A crash" in text else "yes")
    Letters.scores = (metric,)
    scenario = Letters(written(root / "letters.jsonl", [{"id": f"L{n}", **row} for n, row in enumerate(rows)]))
    asked = cell(scenario, samples=len(rows), scores=(metric, *metric.companions))
    return evaluated(asked, "Wait.", judge=Engine(ScriptedBackend(judge, confidence=2.0)))


def disagreements(root: Path, outcome: Outcome, *, keep_prompts: bool = True, **settings: Any) -> list[list[str]]:
    run = recorded(root, [outcome], keep_prompts=keep_prompts)
    tables = Page(as_page(run.run, run.path, PageSettings(**settings))).tables
    return [row for table in tables if table[0] == HEADER for row in table[1:]]


CRASH: dict[str, Any] = {"complaint": "A crash <b>now</b>", "human_reply": "Be & wait", "human_label": "yes"}


def test_a_disagreement_has_its_question_reply_label_and_verdict_with_its_probability(tmp_path: Path) -> None:
    outcome = letters(
        tmp_path, CRASH, {"complaint": "A typo", "human_label": "yes"}, {"complaint": "A slip", "human_label": "no"}
    )
    own, *replied = sorted(disagreements(tmp_path, outcome), key=lambda row: row[2], reverse=True)
    assert own[:6] == ["letters-zero_shot@script", "judge.calm", "L2", "A slip", "Wait.", "no"]
    assert own[6].startswith("yes 0.")
    assert 0.5 < float(own[6].removeprefix("yes ")) < 1
    assert [row[1:6] for row in replied] == [["judge.calm", "L0", "A crash <b>now</b>", "Be & wait", "yes"]]


def test_of_a_pair_both_orders_are_shown(tmp_path: Path) -> None:
    row = {"complaint": "A crash", "rival": "Go!", "human_label": "B"}
    (found,) = disagreements(tmp_path, letters(tmp_path, row, metric=LOUD, judge=lambda _: "A"))
    verdicts = found[6].split(", ")
    assert (found[5], [verdict[0] for verdict in verdicts]) == ("B", ["A", "A"])


def test_where_all_agree_there_is_no_table(tmp_path: Path) -> None:
    outcome = letters(tmp_path, {"complaint": "A typo", "human_label": "yes"}, {"complaint": "A crash"})
    assert disagreements(tmp_path, outcome) == []


def test_without_texts_or_without_prompts_none_are_shown(tmp_path: Path) -> None:
    outcome = letters(tmp_path, CRASH)
    assert disagreements(tmp_path / "without", outcome, texts="none") == []
    assert disagreements(tmp_path / "prompts", outcome, keep_prompts=False) == []


def test_long_questions_are_shown_by_what_the_sample_has_alone(tmp_path: Path) -> None:
    rules = "Keep to the rules of the house. " * 20
    rows = [{**CRASH, "complaint": f"{rules}{text}"} for text in ("> A crash here", "> A crash there")]
    found = disagreements(tmp_path, letters(tmp_path, *rows, judge=lambda _: "no"))
    assert sorted(row[3] for row in found) == ["here", "there"]


@pytest.mark.parametrize("count", [10, 11])
def test_more_than_ten_are_folded(tmp_path: Path, count: int) -> None:
    outcome = letters(tmp_path, *[CRASH] * count)
    run = recorded(tmp_path, [outcome])
    page = Page(as_page(run.run, run.path))
    tables = [table for table in page.tables if table[0] == HEADER]
    assert [len(table) - 1 for table in tables] == ([10] if count == 10 else [10, 1])
    assert ("<summary>1 more</summary>" in page.text) == (count == 11)
