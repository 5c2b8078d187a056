"""The test behind `no_regression` for texts: exact if they are right or wrong, else by the signs of their changes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_puma.core import Decline
from tests.metrics.texts import paired_texts, texts


def declined(new: Sequence[float], old: Sequence[float], *, size: int = 1, trials: int = 1) -> Decline:
    return paired_texts(*(texts(scores, size=size, trials=trials) for scores in (new, old))).decline()


def test_texts_that_are_right_or_wrong_have_mcnemars_mid_p_value() -> None:
    """Six of 30 texts became wrong: the p-value is half of the probability of six heads."""
    result = declined([0.0] * 6 + [1.0] * 24, [1.0] * 30)
    assert (result.n, result.worse, result.better) == (30, 6, 0)
    assert (result.p, result.tests) == (0.5**7, {"mcnemar_mid_p": 0.5**7})
    spread = result.spread
    assert (spread.n, spread.moved, spread.size, spread.unseen, spread.width) == pytest.approx((30, 0.2, 1, 1, 1))
    assert (result.graded, result.same, result.is_regression) == (False, False, True)


def test_texts_that_became_right_are_no_regression() -> None:
    result = declined([1.0] * 30, [0.0] * 6 + [1.0] * 24)
    assert (result.worse, result.better) == (0, 6)
    assert result.p == pytest.approx(1 - 0.5**7)


def test_scores_between_are_tested_by_the_signs_of_their_changes() -> None:
    """Six scores fell by 0.25 and one rose by 0.5: of 128 choices of their signs, 23 give a fall of 1 or more."""
    result = declined([0.5] * 6 + [0.75] + [1.0] * 20, [0.75] * 6 + [0.25] + [1.0] * 20)
    assert (result.n, result.worse, result.better, result.graded, result.same) == (27, 6, 1, True, False)
    assert set(result.tests) == {"permutation"}
    # With the 0.5 as a fall, four, five or six of the others; with it as a rise, all six.
    assert result.p == pytest.approx((15 + 6 + 1 + 1) / 128, abs=0.01)


def test_the_same_scores_are_the_same() -> None:
    again = declined([0.5] * 9, [0.5] * 9)
    assert (again.same, again.p, again.worse, again.better) == (True, 1.0, 0, 0)
    binary = declined([1.0] * 9, [1.0] * 9)
    assert (binary.same, binary.p, binary.graded) == (True, 0.5, False)


def test_one_score_between_is_enough_for_the_test_of_signs() -> None:
    result = declined([1.0, 0.0, 0.5], [1.0, 1.0, 0.5])
    assert (result.graded, set(result.tests)) == (True, {"permutation"})


def test_trials_of_a_sample_are_one_observation() -> None:
    """One of six samples with two trials each became worse in both, one in one trial, and one changed places."""
    new, old = [0, 0, 0, 1, 0, 1, *[1] * 6], [1, 1, 1, 1, 1, 0, *[1] * 6]
    result = declined(new, old, size=2, trials=2)
    assert (result.n, result.worse, result.better) == (6, 2, 0)


def test_many_groups_are_tested_by_their_sums() -> None:
    """Three of ten groups became worse in both rows: half of one of eight signs."""
    result = declined([0.0] * 6 + [1.0] * 14, [1.0] * 20, size=2)
    assert set(result.tests) == {"permutation"}
    assert result.spread.n == pytest.approx(10, rel=0.1)
    assert result.p == pytest.approx(1 / 16, abs=0.01)


def test_scores_between_in_groups_are_tested_by_their_sums() -> None:
    result = declined([0.5] * 6 + [1.0] * 14, [1.0] * 20, size=2)
    assert result.p == pytest.approx(1 / 8, abs=0.01)


def test_few_groups_are_tested_by_their_spread() -> None:
    """Six of 18 rows became wrong, in three of nine groups: a share of 1/3 of nine observations."""
    result = declined([0.0] * 6 + [1.0] * 12, [1.0] * 18, size=2)
    assert set(result.tests) == {"clustered"}
    # Student's t of 1/3 / 0.157 = 2.12 with 8 degrees of freedom.
    assert result.p == pytest.approx(0.033, abs=0.003)


def test_few_groups_are_never_surer_than_independent_rows() -> None:
    """All rows became wrong: there is no spread, and the p-value is that of as many coins."""
    assert declined([0.0] * 8, [1.0] * 8, size=2).p == 0.5**9
