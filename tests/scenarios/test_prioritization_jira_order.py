"""Answers that depend on the order of a pair."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Prediction
from pytest_puma.scenarios import PrioritizationJiraBothOrdersScenario
from pytest_puma.scenarios.jira import order_dependent_rate
from tests.factories import prediction

BOTH = PrioritizationJiraBothOrdersScenario()


def pairs(*answers: str | None) -> list[Prediction]:
    """One pair after the other, each as X>Y and Y>X."""
    return [
        prediction(f"{a}>{b}", answer=answer, units=(a, b))
        for number, answer in enumerate(answers)
        for a, b in [(f"X-{number // 2}", f"Y-{number // 2}")[:: 1 if number % 2 == 0 else -1]]
    ]


@pytest.mark.parametrize(
    ("answers", "rate"),
    [
        ("AB", 0.0),
        ("BA", 0.0),
        ("AA", 1.0),
        ("BB", 1.0),
        ("ABAA", 0.5),
        ("AAAABAAB", 0.5),
    ],
)
def test_the_rate_counts_pairs_answered_with_different_issues(answers: str, rate: float) -> None:
    assert order_dependent_rate(pairs(*answers)) == rate
    assert BOTH.metrics()["order_dependent_rate"](pairs(*answers)) == rate


def test_pairs_without_two_answers_do_not_count() -> None:
    assert order_dependent_rate(pairs("A", None, "A", "A", None, None, "B")) == 1.0
    assert math.isnan(order_dependent_rate(pairs("A", None)))
    assert math.isnan(order_dependent_rate([]))


def test_a_pair_drawn_twice_by_a_bootstrap_counts_twice() -> None:
    contrary, steady = pairs("A", "A", "A", "B")[:2], pairs("A", "A", "A", "B")[2:]
    assert order_dependent_rate([*contrary, *contrary, *steady]) == pytest.approx(2 / 3)
    assert order_dependent_rate([contrary[0], contrary[0], *steady]) == 0.0
    assert order_dependent_rate([*contrary, contrary[0], *steady]) == 0.5


@given(st.lists(st.sampled_from(["A", "B", None]), max_size=20), st.randoms())
def test_the_order_of_the_predictions_does_not_matter(answers: list[str | None], random: object) -> None:
    listed = pairs(*answers)
    mixed = list(listed)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    rate, again = order_dependent_rate(listed), order_dependent_rate(mixed)
    assert rate == again or (math.isnan(rate) and math.isnan(again))
    assert math.isnan(rate) or 0 <= rate <= 1


def test_swapping_every_answer_leaves_the_rate() -> None:
    listed = pairs(*"ABAABBBA")
    swapped = [replace(prediction, answer={"A": "B", "B": "A"}[str(prediction.answer)]) for prediction in listed]
    assert order_dependent_rate(swapped) == order_dependent_rate(listed) == 0.5
