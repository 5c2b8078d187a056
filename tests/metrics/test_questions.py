"""Trials of one question are one observation."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_puma.metrics.evidence import count_questions, per_question, questions_of
from tests.factories import Triage, paired, prediction, predictions


def test_rows_are_numbered_by_their_question_if_one_has_several() -> None:
    rows = [prediction("b"), prediction("a"), prediction("b", trial=1), prediction("c")]
    assert questions_of(rows) == (0, 1, 0, 2)
    assert questions_of(rows[:2]) == ()


def test_the_rows_of_a_question_are_averaged() -> None:
    values = np.array([1.0, 0.0, 0.0, 4.0, 2.0])
    assert per_question(values, (0, 1, 0, 0, 1)).tolist() == pytest.approx([5 / 3, 1.0])
    assert per_question(values, ()) is values
    assert per_question(values, (7, 3, 7, 7, 3)).tolist() == pytest.approx([1.0, 5 / 3])


def test_questions_with_a_row_are_counted() -> None:
    rows = np.array([True, True, False, True])
    assert count_questions(rows, (0, 0, 1, 2)) == 2
    assert count_questions(rows, ()) == 3


def test_a_comparison_of_several_trials_is_of_questions() -> None:
    """The first of two questions got one right answer less of three, the second one more."""
    units = [("q0",)] * 3 + [("q1",)] * 3
    old, new = (
        [
            prediction(f"q{row // 3}", trial=row % 3, answer=answer, units=units[row])
            for row, answer in enumerate(answers)
        ]
        for answers in ("AAABBB", "AABABB")
    )
    pairs = paired(Triage(), new, old)
    change, decline = pairs.change("accuracy"), pairs.decline()
    assert change is not None
    for counts in (change, decline):
        assert (counts.n, counts.worse, counts.better, counts.several) == (2, 1, 1, True)
    single = paired(Triage(), predictions("AB", "AB"), predictions("AB", "BB"))
    assert not single.decline().several
