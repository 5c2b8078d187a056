from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks.reasoning import Gsm8k
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

TEST = {"question": "A box has 4 pears. How many have 3?", "answer": "It is 3*4=<<3*4=12>>12.\n#### 12"}
TRAIN = {"question": "A farm has 2 sheds of 600 hens. How many hens?", "answer": "2*600=1,200.\n#### 1,200"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    json_lines(tmp_path / "train.jsonl", [TRAIN])
    return json_lines(tmp_path / "test.jsonl", [TEST]).parent


def test_a_question_in_a_chat(folder: Path) -> None:
    (pears,) = sample_requests(Gsm8k(folder))
    assert pears.text == "user: Question: A box has 4 pears. How many have 3?\nassistant: Answer:"
    assert pears.golds == ("12",)


def test_the_example_shows_its_whole_solution(folder: Path) -> None:
    (pears,) = sample_requests(Gsm8k(folder), "one_shot", chat=False)
    assert pears.text == (
        "Question: A farm has 2 sheds of 600 hens. How many hens?\nAnswer: 2*600=1,200.\n#### 1,200\n\n"
        "Question: A box has 4 pears. How many have 3?\nAnswer:"
    )


def test_the_truth_is_the_number_without_commas(tmp_path: Path) -> None:
    (hens,) = sample_requests(Gsm8k(json_lines(tmp_path / "gsm.jsonl", [TRAIN])))
    assert hens.golds == ("1200",)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (TEST | {"answer": "It is 12."}, "row 1, column 'answer': found 'It is 12.' at its end, expected a solution"),
        (TEST | {"answer": "It is 12.\n####"}, "row 1, column 'answer': found 'It is 12.\\n####' at its end"),
        (TEST | {"answer": 12}, "row 1, column 'answer': found 12 (int), expected a text"),
        ({"answer": "#### 1"}, "row 1, column 'question': missing or empty; the row has: answer"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, row: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError) as refused:
        _ = Gsm8k(json_lines(tmp_path / "gsm.jsonl", [row])).rows
    assert fault in str(refused.value)
