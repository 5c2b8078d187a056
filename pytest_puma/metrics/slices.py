"""Statistics over groups of the rows: those of one group, and those of all groups of a column, combined."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from pytest_puma.core import Measure, Prediction
from pytest_puma.core.metric_name import Fold, MetricName, Slice
from pytest_puma.metrics.statistic import ComparisonBasis, IntervalBasis, Kernel, Statistic, on_rows
from pytest_puma.stats.arrays import Indices, Values, Weights
from pytest_puma.stats.selection import select

_COMBINE: Mapping[Fold, Callable[..., Values]] = {"mean": np.nanmean, "min": np.nanmin, "max": np.nanmax}


def groups_of(predictions: Sequence[Prediction], key: str) -> dict[str, Indices]:
    """The rows of each group of a column, in the order of their first rows."""
    rows: dict[str, list[int]] = {}
    for row, prediction in enumerate(predictions):
        if key in prediction.groups:
            rows.setdefault(prediction.groups[key], []).append(row)
    return {value: np.array(indices, dtype=np.intp) for value, indices in rows.items()}


def rows_of(groups: Sequence[Mapping[str, Indices]], part: Slice) -> Indices:
    """The rows that have all values of a slice; `groups` are those of each of its columns."""
    none = np.array([], dtype=np.intp)
    rows = [column.get(value, none) for column, (_, value) in zip(groups, part.values, strict=True)]
    return reduce(np.intersect1d, rows)


def of_group(statistic: Statistic, name: str, rows: Indices, losses: Values, total: int) -> Statistic:
    """A statistic of some rows as one of all rows: its kernel takes the weights of all.

    `losses`: those of the rows; `total`: the number of all rows. The cell has the metric, so a group without any row
    has nothing to measure: its statistic is not left out.
    """
    basis = statistic.interval
    if basis is not None:
        error = None if basis.error is None else on_rows(rows, basis.error)
        basis = replace(basis, error=error, sequential=False)
    return replace(
        statistic,
        name=name,
        kernel=on_rows(rows, statistic.kernel),
        inputs=None if statistic.inputs is None else _spread(statistic.inputs, rows, total),
        optional=False,
        interval=basis,
        comparison=replace(statistic.comparison, losses=_spread(losses, rows, total)),
    )


def without_rows(statistic: Statistic, name: str, total: int) -> Statistic:
    """A statistic of a cell over none of its `total` rows: nothing to measure."""
    nothing = np.full(total, np.nan)
    return replace(
        statistic,
        name=name,
        kernel=lambda weights: np.full(len(weights), np.nan),
        n=0,
        inputs=nothing[:, None],
        optional=False,
        interval=statistic.interval and IntervalBasis(),
        comparison=replace(statistic.comparison, losses=nothing),
    )


def combined(statistics: Sequence[Statistic], name: str, fold: Fold) -> Statistic:
    """The mean, the minimum or the maximum of the same statistic of several groups.

    Groups without a value do not count. There is no standard error and no way to compute it from contributions, so its
    interval comes from resamples within the groups.
    """
    first = statistics[0]
    bases = [statistic.interval for statistic in statistics if statistic.interval is not None]
    inputs = [statistic.inputs for statistic in statistics if statistic.inputs is not None]
    losses = [column for statistic in statistics if (column := statistic.comparison.losses) is not None]
    return replace(
        first,
        name=name,
        kernel=_combined([statistic.kernel for statistic in statistics], fold),
        n=sum(statistic.n for statistic in statistics),
        inputs=_merged(inputs) if len(inputs) == len(statistics) else None,
        interval=IntervalBasis(rows=sum(basis.rows for basis in bases), min_rows=bases[0].min_rows) if bases else None,
        comparison=ComparisonBasis(
            losses=_merged(losses) if len(losses) == len(statistics) else None,
            scored=first.comparison.scored,
            groups=_numbers(losses) if fold == "mean" else (),
        ),
    )


def extreme(
    measured: Measure, groups: Sequence[Measure], replicates: Sequence[Values], *, bounds: Sequence[float] = ()
) -> Measure | None:
    """The lowest or the highest of the groups, without the bias of the choice, as in gates over several cells.

    `measured` has the observed value; `replicates` are those of each group in the same resamples; `bounds`: those of
    the metric. None if fewer than two groups have a value: there was no choice.
    """
    name = MetricName.parse(measured.metric)
    fold = "max" if name.slice is not None and name.slice.fold == "max" else "min"
    rows = [row for row, group in enumerate(groups) if not math.isnan(group.value)]
    if len(rows) < 2 or math.isnan(measured.value):  # noqa: PLR2004
        return None
    values = [groups[row].value for row in rows]
    chosen = select(values, [replicates[row].tolist() for row in rows], greatest=fold == "max", bounds=bounds)
    group = groups[rows[chosen.place]]
    part = MetricName.parse(group.metric).slice
    label = "" if part is None else part.values[0][1]
    note = f"corrected for choosing the {fold} of {len(rows)} ({label}), observed {group.value:.3g}"
    low, high = chosen.interval(group.low, group.high)
    return replace(measured, value=chosen.value, low=low, high=high, note="; ".join(filter(None, [group.note, note])))


def _combined(kernels: Sequence[Kernel], fold: Fold) -> Kernel:
    combine = _COMBINE[fold]

    def kernel(weights: Weights) -> Values:
        values = np.stack([part(weights) for part in kernels])
        defined = ~np.isnan(values).all(axis=0)
        numbers = np.full(values.shape[1], np.nan)
        numbers[defined] = combine(values[:, defined], axis=0)
        return numbers

    return kernel


def _numbers(columns: Sequence[Values]) -> tuple[int, ...]:
    """The number of the group of each row, -1 for none, from a column for each group; empty if all have one size."""
    inside = ~np.isnan(np.stack(columns))
    if len(set(inside.sum(axis=1).tolist())) == 1:
        return ()
    return tuple(np.where(inside.any(axis=0), inside.argmax(axis=0), -1).tolist())


def _spread(column: Values, rows: Indices, total: int) -> Values:
    """The values of some rows in a column of all rows, NaN elsewhere."""
    whole = np.full((total, *column.shape[1:]), np.nan)
    whole[rows] = column
    return whole


def _merged(columns: Sequence[Values]) -> Values:
    """Columns of disjoint rows as one."""
    whole = columns[0].copy()
    for column in columns[1:]:
        whole = np.where(np.isnan(whole), column, whole)
    return whole
