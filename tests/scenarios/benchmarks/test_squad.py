from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks.reading import Squad, SquadV2
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests


def nested(path: Path, *questions: dict[str, Any]) -> Path:
    paragraph = {"context": "Ada built a boat in 1901.", "qas": list(questions)}
    path.write_text(json.dumps({"version": "1.1", "data": [{"title": "Boats", "paragraphs": [paragraph]}]}))
    return path


def question(name: str, text: str, *answers: str) -> dict[str, Any]:
    return {"id": name, "question": text, "answers": [{"text": each, "answer_start": 0} for each in answers]}


WHO = question("q1", "Who built a boat?", "Ada", "Ada", "Ada built")
WHEN = question("q2", "When?", "1901")
NOWHERE = question("q3", "Where?") | {"is_impossible": True}
PREAMBLE = "Answer the question with as few words of the text as possible."
TEXT = "Title: Boats\n\nText: Ada built a boat in 1901.\n\nQuestion: "


def test_a_question_in_a_chat(tmp_path: Path) -> None:
    (who,) = sample_requests(Squad(nested(tmp_path / "dev-v1.1.json", WHO)))
    assert who.text == f"user: {PREAMBLE}\n\n{TEXT}Who built a boat?\nassistant: Answer:"
    assert who.golds == ("Ada", "Ada built"), "each answer once"


def test_plain_text_with_an_example(tmp_path: Path) -> None:
    nested(tmp_path / "train-v1.1.json", WHEN)
    nested(tmp_path / "dev-v1.1.json", WHO)
    (who,) = sample_requests(Squad(tmp_path), "one_shot", chat=False)
    assert who.text == f"{PREAMBLE}\n\n{TEXT}When?\nAnswer: 1901\n\n{TEXT}Who built a boat?\nAnswer:"


def test_the_hub_has_columns_of_answers(tmp_path: Path) -> None:
    row = {
        "id": "q1",
        "title": "Boats",
        "context": "Ada built a boat in 1901.",
        "question": "Who built a boat?",
        "answers": {"text": ["Ada", "Ada built"], "answer_start": [0, 0]},
    }
    hub = sample_requests(Squad(json_lines(tmp_path / "validation.jsonl", [row])))
    assert hub == sample_requests(Squad(nested(tmp_path / "dev-v1.1.json", WHO)))


def test_the_second_version_asks_for_a_word_where_there_is_no_answer(tmp_path: Path) -> None:
    who, nowhere = sample_requests(SquadV2(nested(tmp_path / "dev-v2.0.json", WHO, NOWHERE)))
    assert nowhere.golds == ("unanswerable",)
    assert nowhere.text.startswith(f'user: {PREAMBLE} Write "unanswerable" if the text does not tell it.\n\nTitle:')
    assert who.golds == ("Ada", "Ada built")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ([], "not in the format of SQuAD (TypeError("),
        ({"data": [{"title": "x"}]}, "not in the format of SQuAD (KeyError('paragraphs'))"),
        (
            {"data": [{"title": "x", "paragraphs": [{"context": "y", "qas": [NOWHERE]}]}]},
            "question 1, column 'answers'",
        ),
        ({"data": [{"title": "x", "paragraphs": [{"context": 1, "qas": [WHO]}]}]}, "column 'context': found 1 (int)"),
    ],
)
def test_another_format_is_refused(tmp_path: Path, content: object, fault: str) -> None:
    path = tmp_path / "dev-v1.1.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DataError) as refused:
        _ = Squad(path).rows
    assert fault in str(refused.value)


def test_a_question_without_an_answer_names_the_other_benchmark(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"found no answer, expected at least one; squad_v2 has questions without"):
        _ = Squad(nested(tmp_path / "dev-v2.0.json", NOWHERE)).rows
