from __future__ import annotations

import pytest

from pytest_puma.core import DataError, Scenario
from pytest_puma.metrics.table import Table
from tests.composed import Capitals, Quiz
from tests.factories import Estimation, Triage, measured, prediction, predictions


@pytest.mark.parametrize(
    ("scenario", "gold", "expected"),
    [
        (Triage("AB"), "a", "triage: sample 's1' has the gold answer 'a'; expected one of A, B"),
        (Estimation(), "five", "estimation: sample 's1' has the gold answer 'five'; expected a finite number"),
        (Estimation(), "nan", "estimation: sample 's1' has the gold answer 'nan'; expected a finite number"),
    ],
)
def test_a_gold_that_nothing_could_equal_is_refused(scenario: Scenario, gold: str, expected: str) -> None:
    good = scenario.valid_labels()[0]

    with pytest.raises(DataError, match=expected):
        measured(scenario, predictions([good, gold], [good, good]))


def test_choices_are_places_and_samples_with_fewer_of_them_have_no_probability_for_the_rest() -> None:
    two = prediction("a", gold="x", answer="y", choices=("x", "y"), probabilities={"x": 0.25, "y": 0.75})
    three = prediction("b", gold="r", answer=None, choices=("p", "q", "r"), probabilities={"p": 1.0, "q": 0, "r": 0})
    table = Table.of(Quiz(), [two, three])
    assert (table.gold.tolist(), table.answer.tolist()) == ([0, 2], [1, -1])
    assert table.probabilities.tolist() == [[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]]
    assert table.right.tolist() == [False, False]


def test_texts_have_no_places_and_are_parsed_if_there_is_one() -> None:
    rows = [prediction("a", gold="Rome", answer="Rome"), prediction("b", gold="Rome", answer=None)]
    table = Table.of(Capitals(), rows)
    assert (table.gold.tolist(), table.answer.tolist()) == ([-1, -1], [-1, -1])
    assert table.parsed.tolist() == [True, False]
    assert table.right.tolist() == [True, False]


def test_any_of_several_right_choices_is_right() -> None:
    several = prediction("a", gold="x", answer="z", references=("x", "z"), choices=("x", "y", "z"))
    assert Table.of(Quiz(), [several]).right.tolist() == [True]
