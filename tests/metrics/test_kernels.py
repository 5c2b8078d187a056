"""Kernels that are rebuilt from the contributions of some rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean, median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.metrics.kernels import BUILDERS, rebuilt

weighted = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=12)


@given(weighted)
def test_a_weight_is_as_many_rows(rows: list[tuple[int, int]]) -> None:
    errors, weights = np.array(rows, dtype=np.float64).T
    repeated = np.repeat(errors, weights.astype(int))
    references: dict[str, Callable[[list[float]], float]] = {
        "mean": fmean,
        "median": median,
        "root_mean_square": lambda values: math.hypot(*values) / len(values) ** 0.5,
    }
    for name, reference in references.items():
        expected = reference(repeated.tolist()) if repeated.size else math.nan
        assert BUILDERS[name](errors)(weights[None])[0] == pytest.approx(expected, nan_ok=True)


def test_a_root_mean_square_is_as_small_as_its_errors() -> None:
    assert BUILDERS["root_mean_square"](np.array([0.0003, 0.0004]))(np.ones((1, 2)))[0] == pytest.approx(
        0.0005 / math.sqrt(2)
    )


def test_accuracy_is_standardised_by_the_distance_of_the_gold_values() -> None:
    """Pairs of 1, 3 and 6 are 2, 3 and 5 apart, 10/3 on average; an error of 1 is 0.3 of it."""
    errors, gold = np.array([0.0, 1.0, 2.0]), np.array([3.0, 6.0, 1.0])
    kernel = BUILDERS["standardised"](errors, gold)
    assert kernel(np.ones((1, 3)))[0] == pytest.approx(0.7)
    # The second row twice and the third once: pairs of 6, 6 and 1.
    assert kernel(np.array([[0.0, 2.0, 1.0]]))[0] == pytest.approx(1 - (4 / 3) / (10 / 3))


def test_rows_with_equal_gold_values_have_no_standardised_accuracy() -> None:
    assert math.isnan(BUILDERS["standardised"](np.ones(3), np.ones(3))(np.ones((1, 3)))[0])


def test_the_names_of_kernels_are_those_that_statistics_use() -> None:
    assert set(BUILDERS) == {
        *("mean", "median", "root_mean_square", "standardised"),
        *("kappa_quadratic", "spearman", "kendall_tau"),
    }


def test_a_statistic_of_inputs_is_over_the_rows_that_have_all_of_them() -> None:
    inputs = np.array([[1.0, 2.0], [math.nan, 5.0], [3.0, 4.0], [3.0, math.nan], [5.0, 5.0]])
    kernel = BUILDERS["kappa_quadratic"](*inputs[[0, 2, 4]].T)
    statistic = rebuilt("kappa", "kappa_quadratic", inputs, better="low")
    assert (statistic.n, statistic.better) == (3, "low")
    assert statistic.kernel(np.ones((1, 5)))[0] == kernel(np.ones((1, 3)))[0]
    assert statistic.kernel(np.array([[1.0, 9.0, 2.0, 9.0, 3.0]]))[0] == kernel(np.array([[1.0, 2.0, 3.0]]))[0]
