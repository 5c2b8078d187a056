"""How far the number is off: absolute and squared errors over the predictions whose answer was read.

An unread answer has no error. Where more than one in twenty is unread, each measure says that it is
unreliable: a model could look good by answering the easy ones only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.metrics import ordinal
from pytest_puma.metrics.statistic import Statistic, distinct, divide, mean, on_rows
from pytest_puma.metrics.table import Table, unread_note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_puma.metrics.statistic import Kernel, Values, Weights

#: Errors have a long tail, of which fewer of them do not tell.
FEW_ERRORS = 100
BINS = {"1-3": (1.0, 3.0), "5-8": (5.0, 8.0), "13-21": (13.0, 21.0), "34+": (34.0, np.inf)}


def statistics(table: Table) -> Iterator[Statistic]:
    """Over all read answers first, then by the size of the gold value."""
    errors, read, note = np.abs(table.answer_value - table.gold_value), table.read, unread_note(table)
    n, known = int(read.sum()), np.flatnonzero(read)
    standardised = on_rows(known, distinct(_standardised, errors[known], table.gold_value[known]))
    yield mean("mae", errors, read, few=FEW_ERRORS, note=note)
    yield Statistic(name="mdae", kernel=_median(errors, read), n=n, note=note)
    yield Statistic(name="rmse", kernel=_root_mean_square(errors, read), n=n, few=FEW_ERRORS, note=note)
    yield Statistic(
        name="standardised_accuracy",
        kernel=standardised,
        n=n,
        few=FEW_ERRORS,
        note=note,
    )
    yield from ordinal.statistics(table.gold_value, table.answer_value, read, note)
    expected = np.abs(table.probabilities @ table.label_values - table.gold_value)
    yield mean("mae_expected", expected, table.has_probabilities, few=FEW_ERRORS, optional=True, note=note)
    for name, rows in _bins(table.gold_value).items():
        yield mean(f"mae_by_bin.{name}", errors, read & rows, few=FEW_ERRORS, note=note)


def _bins(gold: NDArray[np.float64]) -> dict[str, NDArray[np.bool_]]:
    """Which rows belong to each range of gold values (ends included), and which to none."""
    bins = {name: (low <= gold) & (gold <= high) for name, (low, high) in BINS.items()}
    return {**bins, "other": ~np.any(list(bins.values()), axis=0)}


def _median(values: NDArray[np.float64], among: NDArray[np.bool_]) -> Kernel:
    """The median of the rows of a mask, each repeated as often as its weight, which is a whole number."""
    rows = np.flatnonzero(among)
    rows = rows[np.argsort(values[rows])]
    ascending = values[rows]

    def kernel(weights: Weights) -> Values:
        places = np.cumsum(weights[:, rows], axis=1)
        total = places[:, -1:]
        # The two middle places, counted from 0; one and the same where the total is odd.
        middle = [ascending[np.argmax(places > place, axis=1)] for place in ((total - 1) // 2, total // 2)]
        return np.where(total[:, 0] > 0, (middle[0] + middle[1]) / 2, np.nan)

    return kernel


def _standardised(errors: NDArray[np.float64], gold: NDArray[np.float64]) -> Kernel:
    """1 less the mean absolute error over that of guessing the gold value of some other row: 0 is no better than that.

    Source: M. Shepperd, S. MacDonell, "Evaluating prediction systems in software project estimation", Information and
    Software Technology 54 (2012), with the exact mean over all pairs in place of a simulated one (W. Langdon et al.,
    "Exact mean absolute error of baseline predictor, MARP0", the same 73 (2016)).
    """
    order = np.argsort(gold)
    errors, gold = errors[order], gold[order]

    def kernel(weights: Weights) -> Values:
        own = weights[:, order]
        n = own.sum(axis=1)
        # Of two rows the later has the greater value: each stands above all weights before it.
        before, sums = np.cumsum(own, axis=1) - own, np.cumsum(own * gold, axis=1) - own * gold
        by_chance = divide(2 * np.sum(own * (gold * before - sums), axis=1), n * (n - 1))
        return 1 - divide(divide(own @ errors, n), by_chance)

    return kernel


def _root_mean_square(values: NDArray[np.float64], among: NDArray[np.bool_]) -> Kernel:
    """Computed relative to the greatest value: a number of 200 digits, as a looping model writes, has no square."""
    greatest = np.max(values, initial=1.0, where=among)
    counted = among.astype(np.float64)
    squares = np.square(np.where(among, values, 0.0) / greatest)

    def kernel(weights: Weights) -> Values:
        return np.sqrt(divide(weights @ squares, weights @ counted)) * greatest

    return kernel
