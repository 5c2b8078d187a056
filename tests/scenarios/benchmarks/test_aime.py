from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks.reasoning import Aime, Aime2024, Aime2025, Aime2026
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

ROW = {"id": 60, "problem": "How many ways are there?", "answer": "070", "year": "2024"}


@pytest.mark.parametrize("benchmark", [Aime2024, Aime2025, Aime2026])
def test_a_problem_in_a_chat(tmp_path: Path, benchmark: type[Aime]) -> None:
    (ways,) = sample_requests(benchmark(json_lines(tmp_path / "rows.jsonl", [ROW])))
    assert ways.text == (
        "user: Solve the problem. The answer is a whole number from 0 to 999. Put it into \\boxed{}.\n\n"
        "Problem:\nHow many ways are there?\nassistant: Solution:"
    )
    assert ways.golds == ("70",), "without the zero before it"


@pytest.mark.parametrize(("answer", "gold"), [("000", "0"), (7, "7"), ("999", "999"), (r"336^\circ", "336")])
def test_the_answer_is_a_number_from_0_to_999(tmp_path: Path, answer: object, gold: str) -> None:
    (ways,) = sample_requests(Aime2025(json_lines(tmp_path / "rows.jsonl", [ROW | {"answer": answer}])))
    assert ways.golds == (gold,)


@pytest.mark.parametrize("answer", ["1000", "-1", "7.5", "x"])
def test_another_answer_is_named(tmp_path: Path, answer: object) -> None:
    rows: list[dict[str, Any]] = [ROW | {"answer": answer}]
    with pytest.raises(DataError, match=r"row 1, column 'answer': found .*, expected a whole number from 0 to 999"):
        _ = Aime2025(json_lines(tmp_path / "rows.jsonl", rows)).rows
