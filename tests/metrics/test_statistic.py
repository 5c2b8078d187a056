"""The building blocks of statistics, against direct computations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.metrics.statistic import (
    Statistic,
    blocks,
    in_blocks,
    mean,
    proportion,
    rarer,
    ratio,
    standard_error,
)

_VALUES = st.lists(st.floats(-100, 100), min_size=2, max_size=30)


@given(_VALUES)
def test_the_standard_error_is_that_of_the_mean(values: list[float]) -> None:
    column, among = np.array(values), np.ones(len(values), dtype=np.bool_)
    error = standard_error(column, among)(np.ones((1, len(values))))[0]
    assert error == pytest.approx(column.std() / np.sqrt(len(values) - 1), abs=1e-6)


def test_equal_values_have_no_standard_error() -> None:
    kernel = standard_error(np.full(5, 3.0), np.ones(5, dtype=np.bool_))
    assert kernel(np.ones((1, 5)))[0] == 0


def test_rows_outside_of_the_mask_do_not_count() -> None:
    values, among = np.array([1.0, 3.0, 900.0, 5.0]), np.array([True, True, False, True])
    statistic = mean("points", values, among, better="high")
    assert statistic.n == 3
    assert statistic.kernel(np.ones((1, 4)))[0] == 3
    assert statistic.kernel(np.array([[2.0, 0.0, 5.0, 1.0]]))[0] == pytest.approx(7 / 3)
    assert standard_error(values, among)(np.ones((1, 4)))[0] == pytest.approx(2 / np.sqrt(3))


def test_nothing_is_expected_of_an_unseen_row_unless_stated() -> None:
    statistic = Statistic(name="x", kernel=lambda weights: weights[:, 0], n=0, better="high")
    assert statistic.interval is not None
    assert statistic.interval.unobserved == 0
    assert not statistic.optional


def test_resamples_are_computed_in_blocks_of_all_rows() -> None:
    weights = np.arange(12).reshape(4, 3)
    assert np.concatenate(list(blocks(weights))).tolist() == weights.tolist()
    assert in_blocks(weights, lambda block: block @ np.ones(3)).tolist() == [3, 12, 21, 30]


@pytest.mark.parametrize(
    ("resamples", "rows", "sizes"),
    [(4, 50_000, [4]), (5, 50_000, [4, 1]), (3, 200_000, [1, 1, 1]), (2, 200_001, [1, 1])],
)
def test_a_block_has_as_many_resamples_as_fit_but_one_at_least(resamples: int, rows: int, sizes: list[int]) -> None:
    """A block of one resample after the other would take a Python call for each."""
    weights = np.ones((resamples, rows), dtype=np.uint16)
    assert [len(block) for block in blocks(weights)] == sizes
    assert next(blocks(weights)).dtype == np.float64


def test_a_proportion_counts_hits_among_the_rows_of_its_mask() -> None:
    hits, among = np.array([True, True, False, False]), np.array([True, False, True, True])
    share = proportion("share", hits, among, better="low")
    assert (share.n, share.bounds, share.better, share.source) == (3, (0.0, 1.0), "low", "answers")
    assert share.kernel(np.ones((1, 4)))[0] == pytest.approx(1 / 3)
    assert share.interval is not None
    assert (share.interval.successes, share.interval.sequential) == (1, True)
    assert share.inputs is not None
    assert share.inputs[:, 0].tolist() == pytest.approx([1, math.nan, 0, 0], nan_ok=True)


def test_the_rarer_kind_of_rows_is_counted() -> None:
    assert rarer(np.array([True, True, False])) == rarer(np.array([False, True, False])) == 1


def test_a_ratio_of_nothing_is_not_a_number() -> None:
    kernel = ratio(np.array([1.0, 6.0]), np.array([0.0, 3.0]))
    assert kernel(np.array([[1.0, 0.0], [1.0, 1.0]])).tolist() == pytest.approx([math.nan, 7 / 3], nan_ok=True)


def test_a_standard_error_of_one_row_is_not_a_number() -> None:
    kernel = standard_error(np.array([1.0, 5.0]), np.array([True, True]))
    assert kernel(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])).tolist() == pytest.approx(
        [math.nan, math.nan, 2.0], nan_ok=True
    )


def test_a_standard_error_of_numbers_of_two_hundred_digits_is_finite() -> None:
    kernel = standard_error(np.array([0.0, 4e200]), np.ones(2, dtype=np.bool_))
    assert kernel(np.ones((1, 2)))[0] == pytest.approx(2e200)
