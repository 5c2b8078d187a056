"""Ground truths of tasks, and the replies that equal them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pytest_puma.compat.eval_framework import Sample
from pytest_puma.core import DataError
from tests.compat.tasks import Capitals, answered, cell_tasks

GERMAN = {"Germany": " Berlin"}


class WithCue(Capitals):
    def _get_ground_truth(self, item: dict[str, Any]) -> str:
        return f"A: {item['capital']}."


def test_a_truth_that_begins_with_the_cue_loses_it_and_the_author_is_told_once(folder: Path) -> None:
    with pytest.warns(UserWarning, match="begins with the cue") as caught:
        golds = {task.sample.gold for task in cell_tasks(WithCue(data=folder), "zero_shot")}
    assert "Berlin." in golds
    assert not any("A:" in gold for gold in golds)
    (warning,) = caught
    assert "puma: WithCue: the ground truth 'A: " in str(warning.message)
    assert "without the cue from _get_ground_truth" in str(warning.message)


def test_a_reply_after_the_cue_is_right_though_the_truth_had_the_cue(folder: Path) -> None:
    with pytest.warns(UserWarning, match="cue"):
        outcome = answered(WithCue(data=folder), {"Germany": " Berlin."}, default=" Paris.")
    right = {each.gold for each in outcome.predictions if each.scores["exact_match"] == 1}
    assert right == {"Berlin.", "Paris."}
    assert outcome["exact_match"] == pytest.approx(2 / 12)


def test_space_around_truth_and_reply_does_not_count(folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = answered(Capitals(data=folder), {"Germany": "  Berlin\n"}, default=" berlin")
    right = {each.gold for each in outcome.predictions if each.scores["exact_match"] == 1}
    assert right == {"Berlin"}


class LastLine(Capitals):
    seen: ClassVar[list[Sample]] = []

    def post_process_generated_completion(self, completion_text: str, sample: Sample | None = None) -> str:
        assert sample is not None
        self.seen.append(sample)
        return completion_text.splitlines()[-1].removesuffix(".")


def test_metrics_read_what_the_author_makes_of_a_reply(folder: Path) -> None:
    LastLine.seen = []
    outcome = answered(LastLine(data=folder), {"Germany": "Let me think.\n Berlin."}, default="no")
    germany = next(each for each in outcome.predictions if each.gold == "Berlin")
    assert germany.text == "Berlin"
    assert germany.raw == ("Let me think.\n Berlin.",)
    assert germany.scores["exact_match"] == 1
    sample = next(each for each in LastLine.seen if each.ground_truth == ["Berlin"])
    assert sample.subject == "Europe"
    assert [message.content for message in sample.messages] == ["Capital of Germany?"]


class Nothing(Capitals):
    def post_process_generated_completion(self, completion_text: str, sample: Sample | None = None) -> Any:
        return None


def test_a_post_processor_that_returns_no_text_is_an_error(folder: Path) -> None:
    with pytest.raises(DataError, match="Nothing: post_process_generated_completion returned None; expected a text"):
        answered(Nothing(data=folder), GERMAN, default="x")


class Spellings(Capitals):
    def _get_ground_truth(self, item: dict[str, Any]) -> list[str]:
        return [item["capital"], item["capital"].lower()]


def test_each_of_several_truths_is_right(folder: Path) -> None:
    outcome = answered(Spellings(data=folder), {"Germany": " berlin", "France": " Paris"}, default="x")
    assert outcome["exact_match"] == pytest.approx(2 / 12)
