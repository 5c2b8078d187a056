from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Response
from pytest_puma.strategies.conversations import option_scoring, softmax
from pytest_puma.task_types import KINDS
from tests.strategies.play import OVERFLOW, Weight, play, task


def test_every_valid_label_is_scored_behind_the_prompt(tmp_path: Path) -> None:
    question = task(tmp_path)
    scored = Response(logprobs=(math.log(0.1), math.log(0.3), math.log(0.1)), finish="scored")
    played = play(option_scoring(question), (scored,))
    assert played.rounds == ((question.score(question.prompt(), ["SWEET", "SOUR", "BITTER"]),),)
    assert played.answer.value == "SOUR"
    assert played.answer.probabilities == pytest.approx({"SWEET": 0.2, "SOUR": 0.6, "BITTER": 0.2})
    assert played.answer.responses == (scored,)


def test_a_regression_takes_the_median_of_its_values(tmp_path: Path) -> None:
    scored = Response(logprobs=tuple(map(math.log, (0.35, 0.2, 0.05, 0.4))), finish="scored")
    answer = play(option_scoring(task(tmp_path, scenario=Weight())), (scored,)).answer
    assert answer.value == "2"
    assert answer.probabilities == pytest.approx({"1": 0.35, "2": 0.2, "3": 0.05, "5": 0.4})


@given(st.dictionaries(st.integers(-99, 99), st.floats(0.001, 1), min_size=1))
def test_no_other_value_has_a_smaller_expected_absolute_error(weights: dict[int, float]) -> None:
    probabilities = {str(value): weight / sum(weights.values()) for value, weight in weights.items()}

    def expected(answer: str) -> float:
        return sum(share * abs(float(value) - float(answer)) for value, share in probabilities.items())

    assert expected(KINDS["regression"].choose(probabilities)) == pytest.approx(min(map(expected, probabilities)))


def test_an_overflow_is_no_answer(tmp_path: Path) -> None:
    answer = play(option_scoring(task(tmp_path)), (OVERFLOW,)).answer
    assert answer.value is None
    assert answer.probabilities is None
    assert answer.responses == (OVERFLOW,)


@given(st.lists(st.floats(-5000, 0), min_size=1, max_size=20))
def test_probabilities_add_up_to_one_and_keep_the_order(logprobs: list[float]) -> None:
    probabilities = softmax(logprobs)
    assert sum(probabilities) == pytest.approx(1)
    assert logprobs[probabilities.index(max(probabilities))] == pytest.approx(max(logprobs))


@given(st.lists(st.floats(-50, 0), min_size=2, max_size=8))
def test_a_ratio_of_probabilities_is_the_difference_of_logarithms(logprobs: list[float]) -> None:
    first, second, *_ = softmax(logprobs)
    assert math.log(first / second) == pytest.approx(logprobs[0] - logprobs[1], abs=1e-6)
