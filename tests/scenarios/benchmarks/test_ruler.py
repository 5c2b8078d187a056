from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.reading import REFERENCES_FOUND, Ruler
from pytest_puma.testing import Cell, Engine, Model, ScriptedBackend, parse_strategy
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

NEEDLE = {"index": 0, "input": "Grass. The number is 4711. Which number?", "outputs": ["4711"], "length": 12}
WORDS = {"index": 0, "input": "oak elm oak elm ash", "outputs": ["Oak", "elm"], "answer_prefix": " The words are:"}
EITHER = {"index": 0, "input": "Who?", "outputs": ["Ada", "Lovelace"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    json_lines(tmp_path / "niah_single_1" / "validation.jsonl", [NEEDLE])
    json_lines(tmp_path / "cwe" / "validation.jsonl", [WORDS])
    json_lines(tmp_path / "qa_1.jsonl", [EITHER])
    return tmp_path


def test_the_prefix_of_a_row_begins_the_reply(folder: Path) -> None:
    words, needle, _ = sample_requests(Ruler(folder))
    assert words.text == "user: oak elm oak elm ash\nassistant: The words are:"
    assert needle.text == "user: Grass. The number is 4711. Which number?\nassistant:"
    assert (words.golds, needle.golds) == (("Oak", "elm"), ("4711",))


def test_plain_text(folder: Path) -> None:
    words, *_ = sample_requests(Ruler(folder), chat=False)
    assert words.text == "oak elm oak elm ash\nThe words are:"


def test_an_example_is_lent_by_the_same_task(tmp_path: Path) -> None:
    json_lines(tmp_path / "cwe.jsonl", [WORDS, WORDS | {"input": "fir yew fir yew", "outputs": ["fir", "yew"]}])
    (shown,) = sample_requests(Ruler(tmp_path), "one_shot", samples=1)
    assert shown.text in {
        "user: fir yew fir yew\nassistant: The words are: fir\nuser: oak elm oak elm ash\nassistant: The words are:",
        "user: oak elm oak elm ash\nassistant: The words are: Oak\nuser: fir yew fir yew\nassistant: The words are:",
    }


def test_the_folder_or_the_file_names_the_task(folder: Path) -> None:
    assert {each.groups["task"] for each in draw(Ruler(folder), 3, 42)} == {"cwe", "niah_single_1", "qa_1"}


@pytest.mark.parametrize(
    ("file", "reply", "score"),
    [
        ("cwe/validation.jsonl", "oak and ELM", 1.0),
        ("cwe/validation.jsonl", "oak", 0.5),
        ("cwe/validation.jsonl", "fir", 0.0),
        ("qa_1.jsonl", "lovelace", 1.0),
        ("qa_1.jsonl", "Eve", 0.0),
        ("niah_single_1/validation.jsonl", "It is 4711.", 1.0),
    ],
)
def test_all_references_count_but_one_answers_a_question(folder: Path, file: str, reply: str, score: float) -> None:
    cell = Cell(
        scenario=Ruler(folder / file),
        strategy=parse_strategy("zero_shot"),
        model=Model(name="m", path=Path("m.gguf")),
        scores=(REFERENCES_FOUND,),
    )

    def model(prompt: str) -> str:
        return f"The words are: {reply}" if "oak" in prompt else reply

    assert evaluate(cell, Engine(ScriptedBackend(model)))["references_found"] == score


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"outputs": "4711"}, "needle.jsonl, row 1, column 'outputs': found '4711' (str), expected a list"),
        ({"outputs": []}, "column 'outputs': found [] (list), expected at least one text"),
        ({"outputs": [4711]}, "column 'outputs': found [4711] (list), expected a list of texts"),
        ({"input": None}, "column 'input': missing or empty"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, change: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError) as refused:
        _ = Ruler(json_lines(tmp_path / "needle.jsonl", [NEEDLE | change])).rows
    assert fault in str(refused.value)


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no JSON Lines file in .*; expected one for each task"):
        _ = Ruler(tmp_path).rows
