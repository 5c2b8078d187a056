"""Kernels that can be rebuilt from the contributions of some rows, by name.

A comparison of two sets of answers uses the rows that contribute in both, and computes the metric again on these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from pytest_puma.metrics import ordinal
from pytest_puma.metrics.statistic import Kernel, distinct, divide, ratio
from pytest_puma.stats.arrays import Values, Weights


def average(errors: Values) -> Kernel:
    """Return the kernel of the mean."""
    return ratio(errors, np.ones_like(errors))


def median(errors: Values) -> Kernel:
    """Return the kernel of the median; each error is repeated as often as its weight, a whole number."""
    order = np.argsort(errors)
    ascending = errors[order]

    def kernel(weights: Weights) -> Values:
        places = np.cumsum(weights[:, order], axis=1)
        total = places[:, -1:]
        # The two middle places, counted from 0; equal if the total is odd.
        middle = [ascending[np.argmax(places > place, axis=1)] for place in ((total - 1) // 2, total // 2)]
        return np.where(total[:, 0] > 0, (middle[0] + middle[1]) / 2, np.nan)

    return kernel


def _standardised(errors: Values, gold: Values) -> Kernel:
    """1 minus the ratio of the mean absolute error to that of guessing the gold value of a random other row.

    Source: M. Shepperd, S. MacDonell, "Evaluating prediction systems in software project estimation", Information and
    Software Technology 54 (2012), with the exact mean over all pairs in place of a simulated one (W. Langdon et al.,
    "Exact mean absolute error of baseline predictor, MARP0", the same 73 (2016)).
    """
    order = np.argsort(gold)
    errors, gold = errors[order], gold[order]

    def kernel(weights: Weights) -> Values:
        own = weights[:, order]
        n = own.sum(axis=1)
        # Rows are sorted by gold value: each value is compared with the weights of all smaller ones.
        before, sums = np.cumsum(own, axis=1) - own, np.cumsum(own * gold, axis=1) - own * gold
        by_chance = divide(2 * np.sum(own * (gold * before - sums), axis=1), n * (n - 1))
        return 1 - divide(divide(own @ errors, n), by_chance)

    return kernel


def root_mean_square(errors: Values) -> Kernel:
    """Return the kernel of the root mean square.

    It is relative to the greatest error: the square of 200 digits, as a looping model writes, overflows.
    """
    greatest = np.max(errors, initial=1.0)
    squares = np.square(errors / greatest)

    def kernel(weights: Weights) -> Values:
        return np.sqrt(divide(weights @ squares, weights.sum(axis=1))) * greatest

    return kernel


standardised = partial(distinct, _standardised)
#: By `Statistic.rebuild`.
BUILDERS: Mapping[str, Callable[..., Kernel]] = {
    "mean": average,
    "median": median,
    "root_mean_square": root_mean_square,
    "standardised": standardised,
    **ordinal.KERNELS,
}
