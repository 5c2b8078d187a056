"""How far the number is off: absolute and squared errors over the predictions whose answer was read.

An unread answer has no error. Where more than one in twenty is unread, each measure says that it is
unreliable: a model could look good by answering the easy ones only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.metrics import ordinal
from pytest_puma.metrics.statistic import Statistic, distinct, divide, given, mean, of_rows, ratio, standard_error
from pytest_puma.metrics.table import Table, unread_note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_puma.metrics.statistic import Kernel, Values, Weights

BINS = {"1-3": (1.0, 3.0), "5-8": (5.0, 8.0), "13-21": (13.0, 21.0), "34+": (34.0, np.inf)}


def statistics(table: Table) -> Iterator[Statistic]:
    """Over all read answers first, then by the size of the gold value."""
    gold, read, note = table.gold_value, table.read, unread_note(table)
    errors = np.abs(table.answer_value - gold)
    unseen = _by_chance(gold)
    yield mean("mae", errors, read, unseen=unseen, note=note)
    yield of_rows("mdae", _median, given(errors, read), note=note)
    yield _rmse(errors, read, unseen=unseen, note=note)
    columns = np.column_stack([given(errors, read), gold])
    yield of_rows("standardised_accuracy", _STANDARDISED, columns, terms=errors[read], unseen=1.0, note=note)
    yield from ordinal.statistics(gold, table.answer_value, read, note)
    among = table.has_probabilities
    expected, kept = (
        np.abs(each @ table.label_values - gold) for each in (table.probabilities, table.kept_probabilities)
    )
    expected_error = mean("mae_expected", expected, among, unseen=unseen, optional=True, note=note)
    yield replace(expected_error, inputs=given(kept, among))
    for name, rows in _bins(gold).items():
        yield mean(f"mae_by_bin.{name}", errors, read & rows, unseen=unseen, note=note)


def _rmse(errors: NDArray[np.float64], read: NDArray[np.bool_], *, unseen: float, note: str) -> Statistic:
    """Its interval is that of the mean square; squares are relative to the greatest, which may have 200 digits."""
    kept = np.where(read, errors, 0.0)
    unit = float(np.max(kept, initial=0.0)) or 1.0
    squares = np.square(kept / unit)
    return of_rows(
        "rmse",
        _root_mean_square,
        given(errors, read),
        error=standard_error(squares, read),
        terms=squares[read],
        root=True,
        unseen=(unseen / unit) ** 2,
        note=note,
    )


def _by_chance(gold: NDArray[np.float64]) -> float:
    """The mean error of guessing the gold value of some other row."""
    n, ascending = len(gold), np.sort(gold)
    if n < 2:  # noqa: PLR2004 - there is no other row
        return 0.0
    ranks = np.arange(n)
    return float(2 * np.sum((2 * ranks - n + 1) * (ascending / (n * (n - 1)))))


def kernel_over_read(metric: str) -> Callable[..., Kernel] | None:
    """What builds the metric's kernel of its inputs; None of a metric that is not about parsed answers alone."""
    return _OVER_READ.get(metric.partition(".")[0])


def _bins(gold: NDArray[np.float64]) -> dict[str, NDArray[np.bool_]]:
    """Which rows belong to each range of gold values (ends included), and which to none."""
    bins = {name: (low <= gold) & (gold <= high) for name, (low, high) in BINS.items()}
    return {**bins, "other": ~np.any(list(bins.values()), axis=0)}


def _average(errors: NDArray[np.float64]) -> Kernel:
    return ratio(errors, np.ones_like(errors))


def _median(errors: NDArray[np.float64]) -> Kernel:
    """The median of errors, each repeated as often as its weight, which is a whole number."""
    order = np.argsort(errors)
    ascending = errors[order]

    def kernel(weights: Weights) -> Values:
        places = np.cumsum(weights[:, order], axis=1)
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


def _root_mean_square(errors: NDArray[np.float64]) -> Kernel:
    """Computed relative to the greatest error: a number of 200 digits, as a looping model writes, has no square."""
    greatest = np.max(errors, initial=1.0)
    squares = np.square(errors / greatest)

    def kernel(weights: Weights) -> Values:
        return np.sqrt(divide(weights @ squares, weights.sum(axis=1))) * greatest

    return kernel


_STANDARDISED = partial(distinct, _standardised)
_OVER_READ: Mapping[str, Callable[..., Kernel]] = {
    "mae": _average,
    "mdae": _median,
    "rmse": _root_mean_square,
    "standardised_accuracy": _STANDARDISED,
    "mae_by_bin": _average,
    **ordinal.KERNELS,
}
