from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.reading import DropPassages
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

NO_DATE = {"day": "", "month": "", "year": ""}
PASSAGE = "Ada sold 3 boats in Rome and 4 in Milan."


def answer(number: str = "", *spans: str, **date: str) -> dict[str, Any]:
    return {"number": number, "spans": list(spans), "date": NO_DATE | date, "worker_id": "w"}


def question(name: str, text: str, first: dict[str, Any], *validated: dict[str, Any]) -> dict[str, Any]:
    return {"query_id": name, "question": text, "answer": first, "validated_answers": list(validated)}


TOWNS = question("q1", "Where?", answer("", "Rome", "Milan"), answer("", "Milan"), answer("", "Rome", "Milan"))
BOATS = question("q2", "How many boats?", answer("7"))
WHEN = question("q3", "When?", answer(month="May", year="1901"))


def nested(path: Path, *questions: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"history_1": {"passage": PASSAGE, "qa_pairs": questions, "wiki_url": ""}}))
    return path


def test_each_answer_is_a_list_of_spans(tmp_path: Path) -> None:
    scenario = DropPassages(nested(tmp_path / "drop_dataset_dev.json", TOWNS, BOATS, WHEN))
    towns, boats, when = sample_requests(scenario)
    assert towns.text == f"user: Passage: {PASSAGE}\nQuestion: Where?\nassistant: Answer:"
    assert (towns.golds, boats.golds, when.golds) == (("Rome, Milan", "Milan"), ("7",), ("May 1901",))
    contexts = {sample.id: sample.context["answers"] for sample in draw(scenario, 3, 42)}
    assert contexts == {"q1": [["Rome", "Milan"], ["Milan"]], "q2": [["7"]], "q3": [["May 1901"]]}


def test_plain_text_with_an_example(tmp_path: Path) -> None:
    nested(tmp_path / "drop_dataset_dev.json", BOATS)
    nested(tmp_path / "drop_dataset_train.json", TOWNS)
    (boats,) = sample_requests(DropPassages(tmp_path), "one_shot", chat=False)
    assert boats.text == (
        f"Passage: {PASSAGE}\nQuestion: Where?\nAnswer: Rome, Milan\n\n"
        f"Passage: {PASSAGE}\nQuestion: How many boats?\nAnswer:"
    )


def test_the_hub_has_a_list_for_each_field_of_the_validated_answers(tmp_path: Path) -> None:
    others = TOWNS["validated_answers"]
    columns = {name: [other[name] for other in others] for name in others[0]} | {"worker_id": []}
    flat = {"section_id": "s", "passage": PASSAGE, **TOWNS, "validated_answers": columns}
    hub = sample_requests(DropPassages(json_lines(tmp_path / "validation.jsonl", [flat])))
    assert hub == sample_requests(DropPassages(nested(tmp_path / "drop_dataset_dev.json", TOWNS)))


def test_a_question_without_any_answer_is_left_out(tmp_path: Path) -> None:
    nothing = question("q4", "Why?", answer(), answer(""))
    (boats,) = sample_requests(DropPassages(nested(tmp_path / "drop_dataset_dev.json", nothing, BOATS)))
    assert boats.golds == ("7",)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ([], "not in the format of DROP"),
        (
            {"h": {"passage": PASSAGE, "qa_pairs": [BOATS | {"answer": "7"}]}},
            "question 1, column 'answer': found '7' (str)",
        ),
    ],
)
def test_another_format_is_refused(tmp_path: Path, content: object, fault: str) -> None:
    path = tmp_path / "drop_dataset_dev.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DataError) as refused:
        _ = DropPassages(path).rows
    assert fault in str(refused.value)
