from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks.continuations import Copa
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests


def row(**changes: object) -> dict[str, Any]:
    choices = {"choice1": "I heard a bang.", "choice2": "The sun rose."}
    return {"premise": "My dog hid.", **choices, "question": "cause", "idx": 0, "label": 0} | changes


EFFECT = row(premise="The tyre burst.", choice1="I sang.", choice2="The car stopped.", question="effect", label=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    json_lines(tmp_path / "train.jsonl", [EFFECT])
    return json_lines(tmp_path / "val.jsonl", [row()]).parent


def test_the_choices_continue_the_sentence(folder: Path) -> None:
    (dog,) = sample_requests(Copa(folder), "cloze_scoring", chat=False)
    assert dog.text == "My dog hid because"
    assert dog.continuations == (" i heard a bang.", " the sun rose.")
    assert dog.golds == ("i heard a bang.",)


def test_plain_text_with_an_example_of_an_effect(folder: Path) -> None:
    (dog,) = sample_requests(Copa(folder), "cloze_scoring_1", chat=False)
    assert dog.text == "The tyre burst therefore the car stopped.\n\nMy dog hid because"


def test_a_chat_asks_to_complete_the_sentence(folder: Path) -> None:
    (dog,) = sample_requests(Copa(folder), "cloze_scoring")
    assert dog.text == "user: Complete the sentence:\nMy dog hid because\nassistant:"


def test_letters_show_the_choices(folder: Path) -> None:
    (dog,) = sample_requests(Copa(folder), "option_scoring", chat=False)
    assert dog.text == "My dog hid because\nA. i heard a bang.\nB. the sun rose.\nAnswer:"
    assert dog.continuations == (" A", " B")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"question": "reason"}, "row 1, column 'question': found 'reason', expected cause or effect"),
        ({"label": -1}, "row 1, column 'label': found -1 (int), expected a number from 0 to 1"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, change: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError) as refused:
        _ = Copa(json_lines(tmp_path / "val.jsonl", [row(**change)])).rows
    assert fault in str(refused.value)
