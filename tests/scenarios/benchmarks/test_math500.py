from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.reasoning import Math500
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests


def row(problem: str, answer: str, name: str) -> dict[str, Any]:
    return {
        "problem": problem,
        "solution": f"It is $\\boxed{{{answer}}}$.",
        "answer": answer,
        "subject": "Algebra",
        "level": 2,
        "unique_id": name,
    }


ROWS = [row("Find $x$ if $2x=1$.", r"\frac{1}{2}", "test/algebra/1.json")]


def test_a_problem_in_a_chat(tmp_path: Path) -> None:
    (half,) = sample_requests(Math500(json_lines(tmp_path / "test.jsonl", ROWS)))
    assert half.text == (
        "user: Solve the problem. Put the final answer into \\boxed{}.\n\n"
        "Problem:\nFind $x$ if $2x=1$.\nassistant: Solution:"
    )
    assert half.golds == (r"\frac{1}{2}",)


def test_plain_text_with_an_example(tmp_path: Path) -> None:
    json_lines(tmp_path / "train.jsonl", [row("Find $1+1$.", "2", "train/1.json")])
    (half,) = sample_requests(Math500(json_lines(tmp_path / "test.jsonl", ROWS).parent), "one_shot", chat=False)
    assert half.text == (
        "Solve the problem. Put the final answer into \\boxed{}.\n\n"
        "Problem:\nFind $1+1$.\nSolution: It is $\\boxed{2}$.\n\nProblem:\nFind $x$ if $2x=1$.\nSolution:"
    )


def test_subjects_and_levels_are_groups(tmp_path: Path) -> None:
    (sample,) = draw(Math500(json_lines(tmp_path / "test.jsonl", ROWS)), 1, 42)
    assert sample.groups == {"subject": "Algebra", "level": "2"}
    assert sample.id == "test/algebra/1.json"


def test_a_faulty_row_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"row 1, column 'answer': missing or empty; the row has: problem, solution"):
        _ = Math500(json_lines(tmp_path / "test.jsonl", [ROWS[0] | {"answer": None}])).rows
