"""Distinct rows, beside computations on all rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_puma.metrics.distinct import DistinctRows, distinct

Values = NDArray[np.float64]


def _squares(values: Values) -> Callable[[Values], Values]:
    return lambda weights: weights @ np.square(values)


def _weights(rows: int) -> Values:
    return np.array([[1.0] * rows, [float(row) for row in range(rows)]])


@pytest.mark.parametrize("rows", [0, 3, 200])
def test_counts_of_distinct_rows_give_the_same_number(rows: int) -> None:
    column = np.array([float(row % 3) for row in range(rows)])
    expected = _weights(rows) @ np.square(column)
    assert distinct(_squares, column)(_weights(rows)).tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize("rows", [3, 200])
def test_rows_outside_of_the_mask_do_not_count(rows: int) -> None:
    column = np.array([float(row % 3) for row in range(rows)])
    among = column != 1
    kernel = DistinctRows(column, among=among).kernel(_squares)
    expected = _weights(rows)[:, among] @ np.square(column[among])
    assert kernel(_weights(rows)).tolist() == pytest.approx(expected.tolist())


def test_a_kernel_may_be_about_some_of_the_distinct_rows() -> None:
    column = np.array([float(row % 3) for row in range(60)])
    rows, weights = DistinctRows(column), _weights(60)
    kernel = rows.kernel(_squares, rows.columns[0] != 1)
    assert kernel(weights).tolist() == pytest.approx(
        (weights[:, column != 1] @ np.square(column[column != 1])).tolist()
    )


def test_kernels_about_one_block_share_its_counts_but_not_those_of_another_one() -> None:
    rows = DistinctRows(np.array([1.0, 2.0] * 8))
    one, other = np.ones((1, 16)), np.full((1, 16), 3.0)
    assert rows.counts(one) is rows.counts(one)
    assert rows.counts(other).tolist() == [[24.0, 24.0]]
    assert rows.counts(one).tolist() == [[8.0, 8.0]]
