from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Prediction
from pytest_puma.metrics.library import LIBRARY
from tests.factories import prediction
from tests.metrics.library.choices import question, score

BIAS = LIBRARY["position_bias"]
Answers = Sequence[tuple[int, int]]


def texts(k: int) -> list[str]:
    return [f"choice {place}" for place in range(k)]


def chosen(k: int, place: int, order: tuple[int, ...] = ()) -> Prediction:
    return prediction("q", answer=texts(k)[place], order=order)


def bias(answers: Answers) -> float:
    """The bias of answers as (choices presented, place chosen)."""
    assert BIAS.pool is not None
    vectors = [score("position_bias", question(texts(k)), chosen(k, place)) for k, place in answers]
    return float(BIAS.pool.combine(np.sum(vectors, axis=0)[None])[0])


@pytest.mark.parametrize("k", range(2, 11))
def test_always_the_same_place_is_1_and_all_places_equally_often_is_0(k: int) -> None:
    for place in range(k):
        assert bias([(k, place)] * 7) == pytest.approx(1)
    assert bias([(k, place) for place in range(k)] * 3) == pytest.approx(0)


def test_places_that_nobody_chose_count() -> None:
    # Shares .5 .5 0 0 0: the mean distance from .2 is .24, and .32 is its maximum. Of observed places alone it is 0.
    assert bias([(5, 0), (5, 1)] * 10) == pytest.approx(0.24 / 0.32)


def test_questions_with_other_numbers_of_choices_are_counted_apart() -> None:
    last = [(3, 2)] * 10 + [(5, 4)] * 30
    assert bias(last) == pytest.approx(1)
    mixed = [(3, 0)] * 10 + [(5, place) for place in range(5)] * 6
    assert bias(mixed) == pytest.approx(10 / 40)


@given(st.lists(st.integers(2, 10).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k - 1))), min_size=1))
def test_the_bias_equals_its_definition(answers: list[tuple[int, int]]) -> None:
    expected = 0.0
    for k in {k for k, _ in answers}:
        places = [place for own, place in answers if own == k]
        distances = [abs(places.count(place) / len(places) - 1 / k) for place in range(k)]
        expected += sum(distances) / k / (2 * (k - 1) / k**2) * len(places) / len(answers)
    assert bias(answers) == pytest.approx(expected)
    assert -1e-9 < bias(answers) < 1 + 1e-9


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_place_is_that_of_the_order_shown(order: tuple[int, ...]) -> None:
    sample = question(texts(3))
    for choice in range(3):
        moved = score("position_bias", sample, chosen(3, choice, order=order))
        assert moved == score("position_bias", sample, chosen(3, order.index(choice)))


def test_parse_failures_have_no_place() -> None:
    assert score("position_bias", question(texts(3)), prediction("q", answer=None)) is None
    assert score("position_bias", question(texts(3)), prediction("q", answer="choice 3")) is None


@pytest.mark.parametrize(("k", "applies"), [(1, False), (2, True), (10, True), (11, False)])
def test_questions_with_two_to_ten_choices_are_counted(k: int, *, applies: bool) -> None:
    assert (score("position_bias", question(texts(k)), chosen(k, 0)) is not None) == applies


def test_no_answers_have_no_bias() -> None:
    assert BIAS.pool is not None
    assert math.isnan(BIAS.pool.combine(np.zeros((1, BIAS.pool.width)))[0])


def test_low_values_are_better_and_have_no_interval() -> None:
    assert (BIAS.better, BIAS.bounds, BIAS.interval) == ("low", (0.0, 1.0), False)
    assert BIAS.kinds == {"choice"}
