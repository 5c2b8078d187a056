"""Typical sizes of values and of their differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.stats.arrays import typical_difference, typical_size


def test_equal_sizes_are_typical_whatever_their_signs_and_however_many_are_0() -> None:
    assert typical_size(np.array([0.0, 0.3, -0.3, 0.0, 0.3])) == pytest.approx(0.3)
    assert typical_size(np.zeros(3)) == typical_size(np.empty(0)) == 0.0
    assert typical_size(np.array([1.0, 3.0])) == 10 / 4


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=20))
def test_the_differences_are_those_of_all_pairs(values: list[int]) -> None:
    differences = np.array([one - other for one, other in combinations(values, 2)], dtype=np.float64)
    assert typical_difference(np.array(values, dtype=np.float64)) == pytest.approx(typical_size(differences))


def test_values_that_differ_by_rounding_alone_do_not_differ() -> None:
    assert typical_difference(np.array([0.1 + 0.2, 0.3, 0.3])) == 0.0
    assert typical_difference(np.empty(0)) == 0.0


def test_numbers_of_200_digits_have_a_size() -> None:
    values = np.array([1e200, 3e200, 0.0])
    assert typical_size(values) == pytest.approx(2.5e200)
    assert typical_difference(values) == pytest.approx(14 / 6 * 1e200)
