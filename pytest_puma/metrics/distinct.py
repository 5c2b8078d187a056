"""The distinct rows of a table, counted once in each block of resamples for all kernels that ask."""

from __future__ import annotations

from collections.abc import Callable
from weakref import ref

import numpy as np

from pytest_puma.metrics.statistic import Kernel
from pytest_puma.stats.arrays import Indices, Mask, Values, Weights

#: Counting equal rows pays if each occurs this often on average.
_MIN_REPEATS = 4


class DistinctRows:
    """The distinct rows of some columns, over the rows of a mask; all rows, if most are distinct.

    Labels and points have few distinct rows, however many samples there are. `columns`: their values.
    """

    def __init__(self, *columns: Values | Indices, among: Mask | None = None) -> None:
        rows = np.column_stack(columns)
        kept = np.arange(len(rows)) if among is None else np.flatnonzero(among)
        self._kept = kept if len(kept) < len(rows) else None
        rows = rows[kept]
        self._members: Values | None = None
        if rows.size:
            distinct, indices = np.unique(rows, axis=0, return_inverse=True)
            if len(distinct) * _MIN_REPEATS <= len(rows):
                self._members = np.zeros((len(columns[0]), len(distinct)))
                self._members[kept, indices.reshape(-1)] = 1.0
                rows = distinct
        self.columns = tuple(rows.T)
        self._last: tuple[Callable[[], Weights | None], Weights] = (lambda: None), np.empty(0)

    def counts(self, weights: Weights) -> Weights:
        """Return the number of times that each distinct row occurs: resamples x distinct rows."""
        if self._members is None:
            return weights if self._kept is None else weights.take(self._kept, axis=1)
        if self._last[0]() is not weights:
            self._last = ref(weights), weights @ self._members
        return self._last[1]

    def kernel(self, build: Callable[..., Kernel], kept: Mask | None = None) -> Kernel:
        """Return the kernel that `build` makes of the columns, or of those distinct rows that a mask keeps."""
        if kept is None or kept.all():
            kernel = build(*self.columns)
            return lambda weights: kernel(self.counts(weights))
        kernel = build(*(column[kept] for column in self.columns))
        return lambda weights: kernel(self.counts(weights)[:, kept])


def distinct(build: Callable[..., Kernel], *columns: Values) -> Kernel:
    """Return the kernel that `build` makes of the distinct rows of the columns."""
    return DistinctRows(*columns).kernel(build)
