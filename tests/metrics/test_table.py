from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_puma.core import DataError, Scenario
from pytest_puma.metrics.table import PredictionTable
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
    table = PredictionTable.of(Quiz(), [two, three])
    assert (table.gold.tolist(), table.answer.tolist()) == ([0, 2], [1, -1])
    assert table.probabilities.tolist() == [[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]]
    assert table.right.tolist() == [False, False]


def test_texts_have_no_places_and_are_parsed_if_there_is_one() -> None:
    rows = [prediction("a", gold="Rome", answer="Rome"), prediction("b", gold="Rome", answer=None)]
    table = PredictionTable.of(Capitals(), rows)
    assert (table.gold.tolist(), table.answer.tolist()) == ([-1, -1], [-1, -1])
    assert table.parsed.tolist() == [True, False]
    assert table.right.tolist() == [True, False]


def test_any_of_several_right_choices_is_right() -> None:
    several = prediction("a", gold="x", answer="z", references=("x", "z"), choices=("x", "y", "z"))
    assert PredictionTable.of(Quiz(), [several]).right.tolist() == [True]


def test_numbers_have_values_and_the_place_of_their_label() -> None:
    table = PredictionTable.of(Estimation(), predictions(["3", "4.0", "8"], ["03", None, "five"]))
    assert (table.gold.tolist(), table.answer.tolist()) == ([2, -1, 4], [2, -1, -1])
    assert table.gold_value.tolist() == [3, 4, 8]
    assert table.answer_value.tolist() == pytest.approx([3, math.nan, math.nan], nan_ok=True)
    assert table.parsed.tolist() == [True, False, False]
    assert table.label_values.tolist() == [1, 2, 3, 5, 8, 13, 21, 34]


def test_labels_have_places_and_no_values() -> None:
    table = PredictionTable.of(Triage("AB"), predictions("AB", ["B", "b"]))
    assert (table.gold.tolist(), table.answer.tolist(), table.parsed.tolist()) == ([0, 1], [1, -1], [True, False])
    assert np.isnan([*table.gold_value, *table.answer_value]).all()
    assert table.label_values.size == 0


def test_kept_probabilities_have_six_digits() -> None:
    shares = {"A": 0.123456789, "B": 0.000876543211}
    table = PredictionTable.of(Triage("AB"), predictions("AA", "AA", [shares, None]))
    assert table.has_probabilities.tolist() == [True, False]
    assert table.kept_probabilities.tolist() == [[0.123457, 0.000876543], [0.0, 0.0]]
    assert table.probabilities[0].tolist() == [0.123456789, 0.000876543211]


def test_a_label_that_was_not_scored_has_the_probability_0() -> None:
    table = PredictionTable.of(Triage("ABC"), predictions("A", "A", [{"B": 0.25, "A": 0.75}]))
    assert table.probabilities.tolist() == [[0.75, 0.25, 0.0]]


def test_a_table_without_rows_has_the_columns_of_its_labels() -> None:
    table = PredictionTable.of(Triage("AB"), ())
    assert (len(table), table.probabilities.shape, table.everything.tolist()) == (0, (0, 2), [])
    assert table.kept_probabilities.shape == (0, 2)
    assert PredictionTable.of(Quiz(), ()).labels == ()
