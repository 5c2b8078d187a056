from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.trivia import NaturalQuestions, TriviaQa
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

LOOM = {"question": "who built the loom", "answer": ["Ada Ray", "Ray, Ada", "Ada Ray"]}
TOWN = {"question": "where is it", "answer": ["Graz"]}
ORIGINAL = {
    "Question": "Who built the loom?",
    "QuestionId": "t_1",
    "Answer": {"Value": "Ada Ray", "Aliases": ["Ray", "Ada Ray"], "NormalizedAliases": ["ray", "ada ray"]},
}
HUB = {"question": "Who built the loom?", "question_id": "t_1", "answer": {"value": "Ada Ray", "aliases": ["Ray"]}}


def test_natural_questions_have_several_answers(tmp_path: Path) -> None:
    json_lines(tmp_path / "NQ-open.train.jsonl", [TOWN])
    scenario = NaturalQuestions(json_lines(tmp_path / "NQ-open.dev.jsonl", [LOOM]).parent)
    (loom,) = sample_requests(scenario, "one_shot", chat=False)
    assert loom.text == "Question: where is it\nAnswer: Graz\n\nQuestion: who built the loom\nAnswer:"
    assert loom.golds == ("Ada Ray", "Ray, Ada")
    (sample,) = draw(scenario, 1, 42)
    assert sample.context["answers"] == [["Ada Ray"], ["Ray, Ada"]], "a comma separates nothing"


def test_each_alias_of_trivia_counts(tmp_path: Path) -> None:
    file = tmp_path / "wikipedia-dev.json"
    file.write_text(json.dumps({"Data": [ORIGINAL], "Domain": "Wikipedia"}))
    (loom,) = sample_requests(TriviaQa(file))
    assert loom.text == "user: Question: Who built the loom?\nassistant: Answer:"
    assert loom.golds == ("Ada Ray", "Ray")
    assert sample_requests(TriviaQa(json_lines(tmp_path / "rows.jsonl", [HUB]))) == [loom]


def test_another_format_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "wikipedia-dev.json"
    file.write_text(json.dumps({"data": [ORIGINAL]}))
    with pytest.raises(DataError, match="not in the format of TriviaQA"):
        _ = TriviaQa(file).rows
    with pytest.raises(DataError, match=r"row 1, column 'answer': found \[\] \(list\), expected at least one text"):
        _ = NaturalQuestions(json_lines(tmp_path / "rows.jsonl", [LOOM | {"answer": []}])).rows
