"""The metrics of AISteer360 by their names and keys, without its faults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.compat.aisteer import MCQAAccuracy, MCQAPositionalBias


def bias(responses: list[str | None], choices: Mapping[str, int], ids: list[str]) -> dict[str, Any]:
    metric = MCQAPositionalBias()
    metric.rows = {name: {"choices": ["x"] * number} for name, number in choices.items()}
    return metric(responses=responses, question_ids=ids)


def test_an_unread_reply_is_wrong_in_its_own_question() -> None:
    # Two unread and one wrong reply to the first question, three right ones to the second.
    values = MCQAAccuracy()(
        responses=[None, None, "B", "A", "A", "A"], reference_answers=["A"] * 6, question_ids=[1, 1, 1, 2, 2, 2]
    )
    assert values["trial_mean"] == 0.5
    assert values["question_mean"] == 0.5
    assert values["trial_std"] == pytest.approx(stdev([0, 0, 0, 1, 1, 1]))
    assert values["question_std"] == pytest.approx(stdev([0, 1]))


@pytest.mark.parametrize(
    ("responses", "mean"), [(["A", "B"], 0), (["A", None], 0), (["A", "A"], 1), ([" a ", "a"], 1), ([None, None], 0)]
)
def test_a_question_needs_more_than_half_of_its_trials(responses: list[str | None], mean: float) -> None:
    values = MCQAAccuracy()(responses=responses, reference_answers=["A", "A"], question_ids=["q", "q"])
    assert values["question_mean"] == mean


def test_without_ids_each_trial_is_a_question() -> None:
    values = MCQAAccuracy()(responses=["A", "B", "C"], reference_answers=["A", "A", "C"])
    assert values["question_mean"] == values["trial_mean"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("responses", "mean"),
    [
        (["B"] * 5, 0.32),  # always the same letter of five
        (["A", "B", "A", "B"], 0.24),  # two letters of five, evenly
        (["A", "B", "C", "D", "E"], 0.0),
        (["B", None, "B", "Z"], 0.32),  # what is no letter of the question is no place
    ],
)
def test_the_bias_counts_letters_that_no_reply_has(responses: list[str | None], mean: float) -> None:
    assert bias(responses, {"q": 5}, ["q"] * len(responses))["mean"] == pytest.approx(mean)


def test_without_a_readable_reply_there_is_no_bias() -> None:
    values = bias([None, None], {"q": 5}, ["q", "q"])
    assert math.isnan(values["mean"])
    assert values["std"] == 0


def test_questions_with_other_numbers_of_choices_have_their_own_equal_share() -> None:
    # |1 - 1/2| of two places, and four answers that are even over four places.
    values = bias(["A", "A", "A", "B", "C", "D"], {"two": 2, "four": 4}, ["two"] * 2 + ["four"] * 4)
    assert values["mean"] == pytest.approx((0.5 * 2 + 0.0 * 4) / 6)
    assert values["std"] == pytest.approx(stdev([0.5, 0.0]))


def test_without_rows_the_references_show_how_many_letters_there_are() -> None:
    values = MCQAPositionalBias()(responses=["B"] * 5, reference_answers=list("ABCDE"), question_ids=["q"] * 5)
    assert values["mean"] == pytest.approx(0.32)
    assert MCQAPositionalBias()(responses=["B", "A"])["mean"] == 0


@given(letter=st.sampled_from("ABCDEFG"), size=st.integers(2, 7), times=st.integers(1, 9))
def test_a_constant_answer_is_the_maximum_of_the_bias(letter: str, size: int, times: int) -> None:
    if letter < "ABCDEFG"[size - 1]:
        values = bias([letter] * times, {"q": size}, ["q"] * times)
        assert values["mean"] == pytest.approx(2 * (size - 1) / size**2)
