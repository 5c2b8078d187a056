"""Equal choices, which published data have and which nothing could tell apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.knowledge import ArcEasy
from pytest_puma.testing import Cell, Engine, Model, ScriptedBackend, parse_strategy
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests
from tests.scenarios.benchmarks.test_arc import original


def scenario(tmp_path: Path, *rows: dict[str, Any]) -> ArcEasy:
    return ArcEasy(json_lines(tmp_path / "arc.jsonl", rows))


def test_equal_wrong_choices_are_one(tmp_path: Path) -> None:
    row = original("T_1", "What melts?", "C", A="sand", B="sand", C="ice")
    (only,) = sample_requests(scenario(tmp_path, row), "zero_shot")
    assert only.text == "user: Question: What melts?\nA. sand\nB. ice\nassistant: Answer:"
    assert only.golds == ("ice",)


def test_a_choice_that_equals_the_right_one_is_right(tmp_path: Path) -> None:
    row = original("T_1", "What melts?", "C", A="ice", B="sand", C="ice")
    (only,) = sample_requests(scenario(tmp_path, row), "cloze_scoring")
    assert (only.continuations, only.golds) == ((" ice", " sand"), ("ice",))


def test_reports_say_which_questions_have_equal_choices(tmp_path: Path) -> None:
    rows = [
        original("T_1", "What melts?", "A", A="ice", B="sand"),
        original("T_2", "What burns?", "C", A="sand", B="sand", C="wood"),
    ]
    cell = Cell(
        scenario=scenario(tmp_path, *rows),
        strategy=parse_strategy("zero_shot"),
        model=Model(name="m", path=Path("m.gguf")),
    )
    outcome = evaluate(cell, Engine(ScriptedBackend({}, default="Answer: A")))
    (warning,) = [warning for warning in outcome.judgement.warnings if "equal choices" in warning]
    assert warning == (
        "arc_easy-zero_shot@m: 1 of 2 questions have equal choices, which count as one, right if one of them is: "
        "row 2 ('sand')"
    )


def test_different_choices_need_no_remark(tmp_path: Path) -> None:
    arc = scenario(tmp_path, original("T_1", "What melts?", "A", A="ice", B="sand"))
    assert arc.remarks(draw(arc, 1, 42)) == ()
