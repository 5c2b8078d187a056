"""Absolute and squared errors of numbers, over the parsed answers.

A parse failure has no error. If more than one answer in twenty is a parse failure, each measure has a note that it is
unreliable: a model could look good by answering the easy samples only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from pytest_puma.metrics.kernels import agreement, median, root_mean_square, standardised
from pytest_puma.metrics.statistic import (
    ComparisonBasis,
    IntervalBasis,
    Statistic,
    masked,
    mean,
    of_rows,
    standard_error,
)
from pytest_puma.metrics.table import PredictionTable, parse_failure_note
from pytest_puma.stats.arrays import Mask, Values

BINS = {"1-3": (1.0, 3.0), "5-8": (5.0, 8.0), "13-21": (13.0, 21.0), "34+": (34.0, np.inf)}


def statistics(table: PredictionTable) -> Iterator[Statistic]:
    """Yield the statistics over all parsed answers first, then by the size of the gold value."""
    gold, parsed, note = table.gold_value, table.parsed, parse_failure_note(table)
    errors = np.abs(table.answer_value - gold)
    inputs, chance = masked(errors, parsed), _error_by_chance(gold)
    of_mean = partial(mean, better="low", unobserved=chance, note=note)
    of_errors = ComparisonBasis(rebuild="mean", test="permutation")
    yield of_mean("mae", errors, parsed, comparison=of_errors)
    yield of_rows("mdae", median, inputs, better="low", note=note, comparison=ComparisonBasis(rebuild="median"))
    yield of_rows(
        "rmse",
        root_mean_square,
        inputs,
        better="low",
        note=note,
        interval=_of_squares(errors, parsed, chance),
        comparison=ComparisonBasis(rebuild="root_mean_square"),
    )
    yield of_rows(
        "standardised_accuracy",
        standardised,
        np.column_stack([inputs, gold]),
        note=note,
        interval=IntervalBasis(terms=errors[parsed], unobserved=1.0),
        comparison=ComparisonBasis(rebuild="standardised"),
    )
    yield from agreement(gold, table.answer_value, parsed, note)
    among = table.has_probabilities
    expected, kept = (
        np.abs(shares @ table.label_values - gold) for shares in (table.probabilities, table.kept_probabilities)
    )
    yield of_mean("mae_expected", expected, among, optional=True, inputs=masked(kept, among))
    by_bin = ComparisonBasis(rebuild="mean")
    for name, rows in _bins(gold).items():
        yield of_mean(f"mae_by_bin.{name}", errors, parsed & rows, comparison=by_bin)


def _of_squares(errors: Values, parsed: Mask, chance: float) -> IntervalBasis:
    """The interval of the mean square; squares are relative to the greatest one, which may have 200 digits."""
    kept = np.where(parsed, errors, 0.0)
    unit = float(np.max(kept, initial=0.0)) or 1.0
    squares = np.square(kept / unit)
    return IntervalBasis(
        error=standard_error(squares, parsed), terms=squares[parsed], root=True, unobserved=(chance / unit) ** 2
    )


def _error_by_chance(gold: Values) -> float:
    """The mean error of guessing the gold value of a random other row."""
    n, ascending = len(gold), np.sort(gold)
    if n < 2:  # noqa: PLR2004 - there is no other row
        return 0.0
    ranks = np.arange(n)
    return float(2 * np.sum((2 * ranks - n + 1) * (ascending / (n * (n - 1)))))


def _bins(gold: Values) -> dict[str, Mask]:
    """The mask of each range of gold values (ends included), and that of all other rows."""
    bins = {name: (low <= gold) & (gold <= high) for name, (low, high) in BINS.items()}
    return {**bins, "other": ~np.any(list(bins.values()), axis=0)}
