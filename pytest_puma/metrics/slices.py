"""Statistics over groups of the rows: those of one group, and those of all groups of a column, combined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Prediction
from pytest_puma.core.metric_name import Fold, Slice
from pytest_puma.metrics.statistic import Statistic, on_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_puma.metrics.statistic import Kernel, Values, Weights

_COMBINE: Mapping[Fold, Callable[..., Values]] = {"mean": np.nanmean, "min": np.nanmin, "max": np.nanmax}


def groups_of(predictions: Sequence[Prediction], key: str) -> dict[str, NDArray[np.intp]]:
    """The rows of each group of a column, in the order of their first rows."""
    rows: dict[str, list[int]] = {}
    for row, prediction in enumerate(predictions):
        if key in prediction.groups:
            rows.setdefault(prediction.groups[key], []).append(row)
    return {value: np.array(places, dtype=np.intp) for value, places in rows.items()}


def rows_of(predictions: Sequence[Prediction], part: Slice) -> NDArray[np.intp]:
    """The rows that have all values of a slice."""
    wanted = dict(part.values)
    rows = [row for row, each in enumerate(predictions) if wanted.items() <= dict(each.groups).items()]
    return np.array(rows, dtype=np.intp)


def of_group(statistic: Statistic, name: str, rows: NDArray[np.intp], total: int) -> Statistic:
    """A statistic of some rows as one of all rows: its kernel takes the weights of all.

    `total`: the number of all rows.
    """
    return replace(
        statistic,
        name=name,
        kernel=on_rows(rows, statistic.kernel),
        error=None if statistic.error is None else on_rows(rows, statistic.error),
        inputs=None if statistic.inputs is None else _spread(statistic.inputs, rows, total),
        losses=None if statistic.losses is None else _spread(statistic.losses, rows, total),
        steady=False,
    )


def combined(statistics: Sequence[Statistic], name: str, fold: Fold) -> Statistic:
    """The mean, the minimum or the maximum of the same statistic of several groups.

    Groups without a value do not count. There is no standard error and no way to compute it from contributions, so its
    interval comes from resamples within the groups.
    """
    first = statistics[0]
    inputs = [each.inputs for each in statistics if each.inputs is not None]
    losses = [each.losses for each in statistics if each.losses is not None]
    return replace(
        first,
        name=name,
        kernel=_combined([each.kernel for each in statistics], fold),
        n=sum(each.n for each in statistics),
        inputs=_first_known(inputs) if len(inputs) == len(statistics) else None,
        losses=_first_known(losses) if len(losses) == len(statistics) else None,
        rebuild="",
        error=None,
        terms=None,
        successes=None,
        root=False,
        odd=None,
        steady=False,
        test="bootstrap",
    )


def _combined(kernels: Sequence[Kernel], fold: Fold) -> Kernel:
    combine = _COMBINE[fold]

    def kernel(weights: Weights) -> Values:
        values = np.stack([each(weights) for each in kernels])
        known = ~np.isnan(values).all(axis=0)
        numbers = np.full(values.shape[1], np.nan)
        numbers[known] = combine(values[:, known], axis=0)
        return numbers

    return kernel


def _spread(column: NDArray[np.float64], rows: NDArray[np.intp], total: int) -> NDArray[np.float64]:
    """The values of some rows in a column of all rows, NaN elsewhere."""
    whole = np.full((total, *column.shape[1:]), np.nan)
    whole[rows] = column
    return whole


def _first_known(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Columns of disjoint rows as one."""
    whole = columns[0].copy()
    for column in columns[1:]:
        whole = np.where(np.isnan(whole), column, whole)
    return whole
