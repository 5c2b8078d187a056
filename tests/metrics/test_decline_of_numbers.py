"""The test behind `no_regression` for numbers: errors of the answers parsed in both sets, and parse failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_puma.core import Decline, Prediction
from tests.factories import Estimation, paired, predictions


def numbers(answers: Sequence[str | None], *, size: int = 1) -> list[Prediction]:
    """Answers whose gold value is always 5; `size` rows that follow each other share a unit."""
    return predictions(["5"] * len(answers), answers, units=[(f"u{row // size}",) for row in range(len(answers))])


def declined(new: Sequence[str | None], old: Sequence[str | None], *, size: int = 1) -> Decline:
    return paired(Estimation(), numbers(new, size=size), numbers(old, size=size)).decline()


def test_errors_that_became_greater_are_tested_by_their_signs() -> None:
    """Five of 30 errors became greater: one of 32 signs is as bad."""
    result = declined(["8", "7", "6", "3", "2", *["6"] * 25], ["5"] * 5 + ["6"] * 25)
    assert (result.n, result.worse, result.better) == (30, 5, 0)
    assert result.p == result.tests["permutation"] == pytest.approx(1 / 32, abs=0.005)
    assert (result.graded, result.same, set(result.tests)) == (True, False, {"permutation"})


def test_an_answer_on_the_other_side_is_no_change() -> None:
    result = declined(["8", "6"] * 5, ["2", "4"] * 5)
    assert (result.worse, result.better, result.p, result.same) == (0, 0, 1.0, False)


def test_parse_failures_count_as_changes_and_are_tested_apart() -> None:
    """Holm: twice the smaller of the two p-values."""
    result = declined([None] * 6 + ["5"] * 24, ["6"] * 6 + ["5"] * 23 + [None])
    assert (result.n, result.worse, result.better) == (30, 6, 1)
    # Six or seven of seven coins, the former by half.
    assert result.tests == {"permutation": 1.0, "parse_failures": pytest.approx((1 + 7 / 2) / 128)}
    assert result.p == pytest.approx(2 * result.tests["parse_failures"])


def test_fixed_parse_failures_are_no_regression() -> None:
    result = declined(["6"] * 30, [None] * 2 + ["6"] * 28)
    assert (result.worse, result.better, result.p) == (0, 2, 1.0)


def test_rows_that_share_units_are_tested_by_their_sums() -> None:
    """Three of twenty groups became worse in both rows; one other group got a worse and a better answer."""
    new = ["6"] * 6 + ["5", "7"] + ["5"] * 32
    result = declined(new, ["5"] * 6 + ["7", "5"] + ["5"] * 32, size=2)
    assert result.p == pytest.approx(1 / 8, abs=0.01)
    assert (result.n, result.worse, result.better) == (40, 3, 0)


def test_the_spread_is_that_of_the_answers_parsed_in_both() -> None:
    result = declined(["6"] * 5 + ["5"] * 15 + [None] * 4, ["5"] * 22 + [None] * 2)
    assert (result.n, result.spread.n, result.spread.moved, result.spread.size) == (24, 20, 0.25, 1.0)


def test_trials_are_counted_by_their_samples() -> None:
    new, old = (
        [replace(each, sample_id=f"s{row // 2}", trial=row % 2) for row, each in enumerate(numbers(answers, size=2))]
        for answers in (["6"] * 8, ["5"] * 8)
    )
    assert paired(Estimation(), new, old).decline().n == 4
