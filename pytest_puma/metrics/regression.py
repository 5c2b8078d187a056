"""Absolute and squared errors of numbers, over the parsed answers.

A parse failure has no error. If more than one answer in twenty is a parse failure, each measure has a note that it is
unreliable: a model could look good by answering the easy samples only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pytest_puma.metrics import ordinal
from pytest_puma.metrics.kernels import median, root_mean_square, standardised
from pytest_puma.metrics.statistic import Statistic, masked, mean, of_rows, standard_error
from pytest_puma.metrics.table import Table, parse_failure_note
from pytest_puma.stats.arrays import Mask, Values

BINS = {"1-3": (1.0, 3.0), "5-8": (5.0, 8.0), "13-21": (13.0, 21.0), "34+": (34.0, np.inf)}


def statistics(table: Table) -> Iterator[Statistic]:
    """Yield the statistics over all parsed answers first, then by the size of the gold value."""
    gold, parsed, note = table.gold_value, table.parsed, parse_failure_note(table)
    errors = np.abs(table.answer_value - gold)
    unseen = _error_by_chance(gold)
    yield mean("mae", errors, parsed, better="low", rebuild="mean", test="permutation", unseen=unseen, note=note)
    yield of_rows("mdae", median, masked(errors, parsed), rebuild="median", better="low", note=note)
    yield _rmse(errors, parsed, unseen=unseen, note=note)
    columns = np.column_stack([masked(errors, parsed), gold])
    yield of_rows(
        "standardised_accuracy",
        standardised,
        columns,
        rebuild="standardised",
        terms=errors[parsed],
        unseen=1.0,
        note=note,
    )
    yield from ordinal.statistics(gold, table.answer_value, parsed, note)
    among = table.has_probabilities
    expected, kept = (
        np.abs(each @ table.label_values - gold) for each in (table.probabilities, table.kept_probabilities)
    )
    expected_error = mean("mae_expected", expected, among, better="low", unseen=unseen, optional=True, note=note)
    yield replace(expected_error, inputs=masked(kept, among))
    for name, rows in _bins(gold).items():
        yield mean(f"mae_by_bin.{name}", errors, parsed & rows, better="low", rebuild="mean", unseen=unseen, note=note)


def _rmse(errors: Values, parsed: Mask, *, unseen: float, note: str) -> Statistic:
    """Its interval is that of the mean square; squares are relative to the greatest one, which may have 200 digits."""
    kept = np.where(parsed, errors, 0.0)
    unit = float(np.max(kept, initial=0.0)) or 1.0
    squares = np.square(kept / unit)
    return of_rows(
        "rmse",
        root_mean_square,
        masked(errors, parsed),
        rebuild="root_mean_square",
        better="low",
        error=standard_error(squares, parsed),
        terms=squares[parsed],
        root=True,
        unseen=(unseen / unit) ** 2,
        note=note,
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
