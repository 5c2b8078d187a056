"""Recorded log probabilities of choices and of the ground truth."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from pytest_puma.core import DataError, Likelihood, Outcome
from tests.responses.answer_source.scenarios import Cities, Scored, Shuffled


def test_log_probabilities_decide_between_choices(ask: Callable[..., Outcome]) -> None:
    lines = [
        {"id": "n", "logprobs": {"Oslo": -0.25, "Bergen": -2.0}},
        {"id": "p", "logprobs": {"Lima": -3.0, "Cusco": -1.0}},
    ]
    outcome = ask(Cities, *lines, strategy="cloze_scoring")
    first, second = sorted(outcome.predictions, key=lambda prediction: prediction.sample_id)
    assert (first.answer, second.answer) == ("Oslo", "Cusco")
    assert second.logprobs == (-1.0, -3.0), "in the order of the data"
    assert second.likelihoods[1] == Likelihood(total=-3.0, end=None, tokens=0, greedy=False)
    assert first.probabilities is not None
    assert math.isclose(first.probabilities["Oslo"], 1 / (1 + math.exp(-1.75)))


def test_letters_in_any_order_have_the_log_probabilities_of_their_choices(ask: Callable[..., Outcome]) -> None:
    one, other = {"Oslo": -0.25, "Bergen": -2.0}, {"Oslo": -2.0, "Bergen": -0.25}
    peru = {"Lima": -1.0, "Cusco": -1.5}
    lines = [{"id": "n", "logprobs": [one, other]}, {"id": "p", "logprobs": [peru, peru]}]
    outcome = ask(Shuffled, *lines, strategy="option_scoring")
    answers = {prediction.key: prediction.answer for prediction in outcome.predictions}
    assert answers == {("n", 0): "Oslo", ("n", 1): "Bergen", ("p", 0): "Lima", ("p", 1): "Lima"}
    assert {prediction.order for prediction in outcome.predictions} == {(), (1, 0)}


@pytest.mark.parametrize(
    ("logprobs", "choices"),
    [({"Oslo": -1.0}, "'Oslo'"), ({"Oslo": -1.0, "Bergen": -1.0, "x": -1.0}, "'Bergen', 'Oslo', 'x'")],
)
def test_log_probabilities_of_other_choices_are_an_error(
    ask: Callable[..., Outcome], logprobs: dict[str, float], choices: str
) -> None:
    problem = (
        f"recorded:gpt4=answers.jsonl: line 1 ('n') has logprobs of {choices}; expected those of 'Bergen', 'Oslo', for "
        "sample 'n'"
    )
    lines = [{"id": "n", "logprobs": logprobs}, {"id": "p", "logprobs": {"Lima": -1.0, "Cusco": -1.5}}]
    with pytest.raises(DataError, match=f"^{re.escape(problem)}$"):
        ask(Cities, *lines, strategy="cloze_scoring")


def test_a_line_without_the_kind_of_answer_that_is_needed_is_an_error(ask: Callable[..., Outcome]) -> None:
    lines: list[dict[str, Any]] = [{"id": "n", "text": "A"}, {"id": "p", "text": "B"}]
    problem = "line 2 ('p') has no logprobs, which sample 'p' of cities-option_scoring@gpt4 needs"
    with pytest.raises(DataError, match=re.escape(problem)):
        ask(Cities, *lines, strategy="option_scoring")
    lines = [{"id": "n", "logprobs": {"Oslo": -1, "Bergen": -2}}, {"id": "p", "text": "B"}]
    with pytest.raises(DataError, match=re.escape("line 1 ('n') has no text, which sample 'n' of cities-zero_shot")):
        ask(Cities, *lines)


def test_the_log_probability_of_the_truth_is_given_by_its_text(ask: Callable[..., Outcome]) -> None:
    lines = [
        {"id": "n", "text": "Oslo", "logprobs": {"Oslo": -4 * math.log(2)}},
        {"id": "p", "text": "Lima", "logprobs": {"Lima": -8 * math.log(2)}},
    ]
    outcome = ask(Scored, *lines)
    assert math.isclose(outcome["bits_per_byte"], 1.5)
