from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.scenarios.benchmarks.knowledge import OpenBookQa
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests
from tests.scenarios.benchmarks.test_arc import original

HUB = {
    "id": "7-1",
    "question_stem": "A lamp needs",
    "choices": {"text": ["rain", "power"], "label": ["A", "B"]},
    "answerKey": "B",
}


@pytest.mark.parametrize("row", [HUB, original("7-1", "A lamp needs", "B", A="rain", B="power")])
def test_a_choice_continues_the_question_in_plain_text(tmp_path: Path, row: dict[str, Any]) -> None:
    json_lines(tmp_path / "test.jsonl", [row])
    json_lines(tmp_path / "train.jsonl", [original("9-1", "Bread is made of", "A", A="flour", B="sand")])
    (lamp,) = sample_requests(OpenBookQa(tmp_path), "cloze_scoring_1", chat=False)
    assert lamp.text == "Bread is made of flour\n\nA lamp needs"
    assert lamp.continuations == (" rain", " power")
    assert lamp.golds == ("power",)


def test_in_a_chat_a_choice_is_the_reply(tmp_path: Path) -> None:
    (lamp,) = sample_requests(OpenBookQa(json_lines(tmp_path / "obqa.jsonl", [HUB])), "cloze_scoring")
    assert lamp.text == "user: Question: A lamp needs\nassistant:"
    assert lamp.continuations == ("rain", "power")


def test_letters_have_the_question_and_the_choices_in_plain_text_too(tmp_path: Path) -> None:
    (lamp,) = sample_requests(OpenBookQa(json_lines(tmp_path / "obqa.jsonl", [HUB])), "option_scoring", chat=False)
    assert lamp.text == "Question: A lamp needs\nA. rain\nB. power\nAnswer:"
    assert lamp.continuations == (" A", " B")
