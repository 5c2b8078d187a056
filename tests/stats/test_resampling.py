from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.stats.intervals import percentile_interval
from pytest_puma.stats.resampling import Resamples, components, resampling_weights, share_units


@pytest.mark.parametrize(
    ("units", "shared"),
    [
        ([], False),
        ([(), ()], False),
        ([("a",), ("b",)], False),
        ([("a", "a"), ("b",)], False),
        ([("a", "b"), ("c", "d")], False),
        ([("a",), ("a",)], True),
        ([("a", "b"), ("c", "b")], True),
        ([("a", "b"), ("b", "a")], True),
    ],
)
def test_units_are_shared_if_two_rows_name_the_same(units: list[tuple[str, ...]], shared: bool) -> None:  # noqa: FBT001
    assert share_units(units) is shared


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_independent_rows_are_drawn_with_replacement(n: int, seed: int) -> None:
    weights = resampling_weights([(f"left{row}", f"right{row}") for row in range(n)], resamples=50, seed=seed)

    assert weights.shape == (50, n)
    assert np.issubdtype(weights.dtype, np.integer)
    assert weights.min() >= 0
    assert (weights.sum(axis=1) == n).all()


def test_rows_without_units_are_independent() -> None:
    named = resampling_weights([("a",), ("b",), ("c",)], seed=1)

    assert np.array_equal(resampling_weights([(), (), ()], seed=1), named)


def test_a_unit_named_twice_by_a_row_is_one_unit() -> None:
    assert np.array_equal(
        resampling_weights([("a", "a"), ("b",)], seed=1), resampling_weights([("a",), ("b",)], seed=1)
    )


def test_counts_of_a_row_are_binomial() -> None:
    n, resamples = 10, 20_000
    counts = Counter(resampling_weights([()] * n, resamples=resamples, seed=3)[:, -1].tolist())

    for k in range(4):
        expected = math.comb(n, k) * (1 / n) ** k * (1 - 1 / n) ** (n - k)
        assert counts[k] / resamples == pytest.approx(expected, abs=0.01)


def test_rows_of_the_same_units_in_any_order_move_together() -> None:
    weights = resampling_weights([("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")], resamples=500, seed=5)

    assert np.array_equal(weights[:, 0], weights[:, 1])
    assert np.array_equal(weights[:, 2], weights[:, 3])
    # Two pairs are two atoms: both orders of one pair count as one.
    assert (weights[:, 0] + weights[:, 2] == 2).all()


def test_a_row_counts_as_often_as_the_product_of_its_shared_units() -> None:
    weights = resampling_weights([("a", "b"), ("b", "c"), ("a", "c")], resamples=2000, seed=7)
    rows = {tuple(row) for row in weights.tolist()}

    # Three issues drawn with replacement give these counts of (a, b, c): all once, or one twice and one once.
    assert rows == {(1, 1, 1), (2, 0, 0), (0, 2, 0), (0, 0, 2)}


def test_rows_with_fewer_units_than_others_keep_their_own_count() -> None:
    units = [("a", "b"), ("b", "c"), ("d",)]
    weights = resampling_weights(units, resamples=3000, seed=9)

    # a, b, c and d are drawn four times in all, so d never occurs more than four times.
    assert set(weights[:, 2].tolist()) == {0, 1, 2, 3, 4}
    assert (weights[weights[:, 2] == 4][:, :2] == 0).all()


def test_a_resample_without_any_row_is_omitted() -> None:
    weights = resampling_weights([("a", "b"), ("b", "c")], resamples=1000, seed=1)

    assert 500 < len(weights) < 1000
    assert weights.any(axis=1).all()


def test_an_issue_in_several_pairs_widens_the_interval() -> None:
    values = np.arange(40) % 2.0
    pairs = [(f"issue{row % 4}", f"own{row}") for row in range(40)]

    def width(units: list[tuple[str, ...]]) -> float:
        weights = resampling_weights(units, seed=11)
        low, high = percentile_interval(weights @ values / weights.sum(axis=1))
        return high - low

    assert width(list(pairs)) > 1.3 * width([()] * 40)


def test_the_seed_determines_the_resamples() -> None:
    units = [(f"{row % 7}", f"{row}") for row in range(30)]
    first, again, other = (resampling_weights(units, seed=seed) for seed in (1, 1, 2))

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_no_rows_have_no_resamples() -> None:
    assert resampling_weights([], seed=1).size == 0


def test_many_rows_are_drawn_in_blocks_that_differ() -> None:
    weights = resampling_weights([()] * 3000, resamples=1000, seed=1)

    assert (weights.sum(axis=1) == 3000).all()
    assert len(np.unique(weights, axis=0)) == 1000


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=3).map(tuple), max_size=12))
def test_rows_are_one_group_where_units_link_them(units: list[tuple[str, ...]]) -> None:
    groups = components(units)
    expected = list(range(len(units)))
    for _ in units:  # each pass spreads the smallest number of a group by one link
        for row, names in enumerate(units):
            linked = [other for other, others in enumerate(units) if other == row or set(names) & set(others)]
            expected[row] = min(expected[other] for other in linked)

    assert len(groups) == len(units)
    assert all((groups[a] == groups[b]) == (expected[a] == expected[b]) for a in range(len(units)) for b in range(a))


def test_the_resamples_of_all_rows_are_drawn_once() -> None:
    resamples = Resamples([("a",), ("b",), ("c",)], seed=3)

    assert resamples.of([0, 1, 2]) is resamples
    assert resamples.weights is resamples.weights
    assert (resamples.of([0, 2]).weights == resampling_weights([("a",), ("c",)], seed=3)).all()


@pytest.mark.parametrize(
    ("units", "worth"),
    [
        ([(), ()], 2),
        ([("a",), ("a",)], 1),
        ([("a", "b"), ("a", "c"), ("a", "d")], 3),
        # Two pairs, each in both orders.
        ([("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")], 2),
        ([], 0),
    ],
)
def test_rows_are_worth_no_more_than_their_units(units: list[tuple[str, ...]], worth: int) -> None:
    assert Resamples(units, seed=1).independent == worth


def test_cells_on_the_same_samples_share_their_resamples() -> None:
    units = [(f"{row}",) for row in range(30)]
    one, other = Resamples(units, seed=1).weights, Resamples(list(units), seed=1).weights
    assert one is other
    assert not one.flags.writeable
    assert Resamples(units, seed=2).weights is not one
    np.testing.assert_array_equal(one, resampling_weights(units, seed=1))
