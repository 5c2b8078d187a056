"""Partial evaluation: the samples of a row differ in a choice, and the text behind it is scored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.compat.eval_framework import BaseTask, Message, ResponseType, Role, Sample
from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from pytest_puma.strategies.conversations import cloze_scoring
from pytest_puma.testing import Engine, ScriptedBackend, evaluate
from tests.compat.geography import write_rows
from tests.compat.tasks import cell, cell_tasks


class Blanks(BaseTask[str]):
    """As WinograndeCloze: two samples of a row, one for each option."""

    NAME = "Blanks"
    DATASET_PATH = "absent"
    SAMPLE_SPLIT = FEWSHOT_SPLIT = "test"
    RESPONSE_TYPE = ResponseType.LOGLIKELIHOODS
    METRICS = ("PartialEvalAccuracy",)

    def _get_instruction_text(self, item: dict[str, Any]) -> str:
        return str(item["sentence"].partition("_")[0].strip())

    def _get_ground_truth(self, item: dict[str, Any]) -> str:
        return f" {item['options'][item['answer']]}{item['sentence'].partition('_')[2]}"

    def _get_possible_completions(self, item: dict[str, Any]) -> list[str]:
        return [f" {option}{item['sentence'].partition('_')[2]}" for option in item["options"]]

    def _create_samples(self, item: dict[str, Any], index: int, subject: str) -> list[Sample]:
        before, _, behind = item["sentence"].partition("_")
        return [
            Sample(
                id=index + place,
                subject=subject,
                messages=[Message(Role.USER, f"{before}{option}")],
                ground_truth=str(place == item["answer"]),
                possible_completions=[behind],
            )
            for place, option in enumerate(item["options"])
        ]


def requests(task: Any) -> list[Any]:
    """What the strategy asks first."""
    conversation: Any = cloze_scoring(task)
    return list(next(conversation))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Options that begin with the same letters; two rows have the same first option."""
    rows: list[Any] = [
        {"sentence": "It did not fit because the _ was too small.", "options": ["trophy", "trunk"], "answer": 1},
        {"sentence": "She likes the _ more.", "options": ["red car", "red bike"], "answer": 0},
        {"sentence": "Nobody sees the _ now.", "options": ["trophy", "moon"], "answer": 1},
    ]
    write_rows(tmp_path / "test.jsonl", rows)
    return tmp_path / "test.jsonl"


def test_the_samples_of_a_row_are_the_choices_of_one_question(data: Path) -> None:
    scenario: Any = Blanks(data=data)
    samples = {sample.gold: sample for sample in draw(scenario, 3, 42)}
    assert sorted(samples) == ["car", "moon", "trunk"]
    assert [(choice.text, choice.right) for choice in samples["trunk"].choices] == [("trophy", False), ("trunk", True)]
    fields = dict(samples["car"].fields)
    assert (scenario.continued(fields), scenario.ending(fields)) == ("She likes the red", "more.")


def test_the_ending_is_scored_after_each_choice(data: Path) -> None:
    scored = [
        (request.prompt.prefill, request.continuations)
        for task in cell_tasks(Blanks(data=data), "cloze_scoring", samples=3)
        if task.sample.gold == "trunk"
        for request in requests(task)
    ]
    assert scored == [("trophy", (" was too small.",)), ("trunk", (" was too small.",))]


def test_each_row_is_one_question_of_the_accuracy(data: Path) -> None:
    outcome = evaluate(cell(Blanks(data=data), "cloze_scoring", samples=3), Engine(ScriptedBackend({}, default="x")))
    assert [len(prediction.likelihoods) for prediction in outcome.predictions] == [2, 2, 2]
    assert outcome.measures["accuracy"].n == 3


@pytest.mark.parametrize(
    ("truths", "endings", "fault"),
    [
        (("True", "True"), (" a.", " a."), "made 2 samples with 2 'True' ground truths"),
        (("False", "False"), (" a.", " a."), "made 2 samples with 0 'True' ground truths"),
        (("True", "False"), (" a.", " b."), "with the same completion"),
    ],
)
def test_samples_without_one_right_choice_and_one_ending_are_refused(
    data: Path, truths: tuple[str, ...], endings: tuple[str, ...], fault: str
) -> None:
    def create(self: Any, item: dict[str, Any], index: int, subject: str) -> list[Sample]:
        return [
            Sample(
                id=place,
                subject=subject,
                messages=[Message(Role.USER, f"The {place}")],
                ground_truth=truth,
                possible_completions=[ending],
            )
            for place, (truth, ending) in enumerate(zip(truths, endings, strict=True))
        ]

    with pytest.raises(DataError, match=fault):
        draw(type("Faulty", (Blanks,), {"_create_samples": create})(data=data), 3, 42)
