from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks.knowledge import ArcChallenge, ArcEasy
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests


def original(name: str, stem: str, key: str, **choices: str) -> dict[str, Any]:
    """A row as published, with the labels of the choices as keywords."""
    labelled = [{"text": text, "label": label.lstrip("_")} for label, text in choices.items()]
    return {"id": name, "question": {"stem": stem, "choices": labelled}, "answerKey": key}


TEST = [
    original("T_1", "What melts?", "B", A="stone", B="ice", C="sand"),
    original("T_2", "What burns?", "3", _1="water", _2="sand", _3="wood", _4="stone"),
]
TRAIN = [original("E_1", "What floats?", "A", A="cork", B="iron", C="gold", D="lead")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    json_lines(tmp_path / "ARC-Challenge-Test.jsonl", TEST)
    json_lines(tmp_path / "ARC-Challenge-Train.jsonl", TRAIN)
    return tmp_path


def test_the_texts_of_the_choices_are_scored(folder: Path) -> None:
    melts, burns = sample_requests(ArcChallenge(folder), "cloze_scoring")
    assert melts.text == "user: Question: What melts?\nassistant: Answer:"
    assert melts.continuations == (" stone", " ice", " sand")
    assert melts.golds == ("ice",)
    assert burns.golds == ("wood",), "its labels are 1 to 4"


def test_plain_text_with_an_example(folder: Path) -> None:
    melts, _ = sample_requests(ArcChallenge(folder), "cloze_scoring_1", chat=False)
    assert melts.text == "Question: What floats?\nAnswer: cork\n\nQuestion: What melts?\nAnswer:"


def test_written_letters_show_the_choices_of_a_chat_with_an_example(folder: Path) -> None:
    _, burns = sample_requests(ArcChallenge(folder), "one_shot")
    assert burns.text == (
        "user: Question: What floats?\nA. cork\nB. iron\nC. gold\nD. lead\n"
        "assistant: Answer: A\n"
        "user: Question: What burns?\nA. water\nB. sand\nC. wood\nD. stone\n"
        "assistant: Answer:"
    )


def test_the_hub_has_columns_of_texts_and_labels(tmp_path: Path) -> None:
    choices = {"text": ["stone", "ice"], "label": ["A", "B"]}
    row = {"id": "T_1", "question": "What melts?", "choices": choices, "answerKey": "B"}
    (melts,) = sample_requests(ArcEasy(json_lines(tmp_path / "test.jsonl", [row])), "cloze_scoring")
    assert melts.text == "user: Question: What melts?\nassistant: Answer:"
    assert (melts.continuations, melts.golds) == ((" stone", " ice"), ("ice",))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"answerKey": "E"}, "row 1, column 'answerKey': found 'E' (str), expected one of A, B, C, or a number from 1"),
        ({"answerKey": None}, "row 1, column 'answerKey': missing or empty; the row has: id, question, answerKey"),
        ({"id": 7}, "row 1, column 'id': found 7 (int), expected a text"),
        ({"question": "What melts?"}, "row 1, column 'choices': found NoneType, expected a list of objects"),
        (
            {"question": {"stem": "What?", "choices": ["ice"]}},
            "'choices': found list, expected a list of objects",
        ),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, change: dict[str, Any], fault: str) -> None:
    file = json_lines(tmp_path / "arc.jsonl", [TEST[0] | change])
    with pytest.raises(DataError) as refused:
        _ = ArcEasy(file).rows
    assert fault in str(refused.value)


def test_two_files_of_a_split_are_named(tmp_path: Path) -> None:
    for part in (1, 2):
        json_lines(tmp_path / "data" / f"test-{part}.parquet", TEST)
    with pytest.raises(DataError, match=r"2 files of the split 'test' in .*: data/test-1.parquet, data/test-2.parquet"):
        _ = ArcEasy(tmp_path).rows
