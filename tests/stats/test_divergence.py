"""The divergence of two distributions of which only the best tokens are known."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytest_puma.stats.divergence import kl_divergence


def best(distribution: NDArray[np.float64], count: int) -> tuple[list[int], list[float]]:
    """The most probable tokens and their log-probabilities, as 32-bit numbers."""
    tokens = np.argsort(-distribution, kind="stable")[:count]
    return tokens.tolist(), np.log(distribution[tokens]).astype(np.float32).tolist()


def bound(old: NDArray[np.float64], new: NDArray[np.float64], count: int) -> float:
    return kl_divergence(*best(old, count), *best(new, count))


def as_one(old: NDArray[np.float64], new: NDArray[np.float64], count: int) -> float:
    """The divergence if all tokens that are not in both lists are one, which is never above the bound."""
    first, second = (dict(zip(*best(side, count), strict=True)) for side in (old, new))
    both = [token for token in first if token in second]
    rests = [1 + 1e-7 - min(1.0, sum(exp(side[token]) for token in both)) for side in (first, second)]
    parts = (exp(first[token]) * (first[token] - second[token]) for token in both)
    return max(0.0, sum(parts) + rests[0] * log(rests[0] / rests[1]))


@pytest.mark.parametrize(
    ("old", "new", "count", "expected"),
    [
        # Both lists have all tokens: the exact value.
        ([0.5, 0.25, 0.25], [0.25, 0.5, 0.25], 3, 0.25 * log(2)),
        # Token 0 is in both lists. Of the others, 1 may have 0.3 in the second, and 3 all the 0.2 in the first.
        ([0.5, 0.3, 0.15, 0.05], [0.4, 0.2, 0.1, 0.3], 2, 0.5 * log(0.5 / 0.4) + 0.2 * log(0.2 / 0.3)),
        # No token is in both lists, and each list has one: the others are one against one.
        ([0.9, 0.04, 0.03, 0.03], [0.03, 0.9, 0.04, 0.03], 1, 0.0),
    ],
)
def test_by_hand(old: list[float], new: list[float], count: int, expected: float) -> None:
    assert bound(np.array(old), np.array(new), count) == pytest.approx(expected, abs=1e-4)


@given(
    st.lists(st.tuples(st.floats(-12, 12), st.floats(-12, 12)), min_size=2, max_size=40),
    st.integers(1, 40),
)
def test_it_is_never_above_the_exact_divergence(logits: list[tuple[float, float]], count: int) -> None:
    old, new = (np.exp(side) / np.exp(side).sum() for side in np.array(logits).T)
    exact = float(old @ np.log(old / new))
    found = bound(old, new, min(count, len(old)))
    assert as_one(old, new, min(count, len(old))) - 2e-6 <= found <= exact + 2e-6
    if count >= len(old):
        assert found == pytest.approx(exact, abs=1e-5)


def test_equal_distributions_do_not_diverge() -> None:
    distribution = np.full(1000, 0.001)
    assert bound(distribution, distribution, 256) == 0
