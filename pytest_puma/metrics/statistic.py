"""A statistic: a number computed from weighted rows. Its value has unit weights, its interval resampled ones.

One kernel computes both, so a value and its interval agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pytest_puma.core import Direction
from pytest_puma.core.change import PairedTest
from pytest_puma.core.metric import Source
from pytest_puma.stats.arrays import Counts, Indices, Mask, Values, Weights
from pytest_puma.stats.intervals import Interval
from pytest_puma.stats.resampling import RESAMPLES

Kernel: TypeAlias = Callable[[Weights], Values]

MIN_ROWS = 30
SHARE: Interval = (0.0, 1.0)
CORRELATION: Interval = (-1.0, 1.0)
_WEIGHTS_AT_ONCE = 200_000  # 1.6 MB, which fits the processor's cache


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalBasis:
    """The data for the interval of a statistic.

    `successes`: the count of a proportion; `rows`: that of a proportion, or of a mean of proportions, which is never
    more certain if rows share units. `error`: the kernel of the standard error of a mean; `terms`: the numbers to
    average, in any unit; `root`: the statistic is the square root of such a mean; `limits`: the minimum and maximum of
    the mean; `unobserved`: the expected size of another term if all terms are equal. `min_rows`: with fewer rows the
    interval is approximate; `rarer`: the number of rows of the rarer kind, right or wrong; `sequential`: the interval
    is also valid at interim looks.
    """

    successes: int | None = None
    rows: float = math.inf
    error: Kernel | None = None
    terms: Values | None = None
    root: bool = False
    limits: Interval = (0.0, math.inf)
    unobserved: float = 0.0
    min_rows: int = MIN_ROWS
    rarer: int | None = None
    sequential: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonBasis:
    """The data for the change of a statistic between two sets of answers.

    `test`: the paired test of the metric itself. `losses`: the loss of each row for this metric, NaN for a row that
    does not count, None for the losses of the answers of all rows; `scored`: they are losses of the metric itself, not
    of the answers. `rebuild`: the name in `kernels.BUILDERS` of the builder of the kernel from the inputs of some rows,
    empty if there is none. `groups`: the group of each row if the statistic is the mean over groups of different sizes,
    -1 for none.
    """

    test: PairedTest = "bootstrap"
    losses: Values | None = None
    scored: bool = False
    rebuild: str = ""
    groups: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A named kernel, with the data for its interval, None for no interval, and for its comparison.

    `n`: its number of rows. `source`: what it is counted from. `better`: which values are better; `unit`: of the value;
    `bounds`: its minimum and maximum. `inputs`: the contribution of each row (rows x columns), NaN for none, None if
    unknown. `optional`: left out, not NaN, if it has no rows. `resamples`: the number that it needs.
    """

    name: str
    kernel: Kernel
    n: int
    source: Source = "answers"
    better: Direction = "high"
    unit: str = ""
    bounds: Interval | None = None
    inputs: Values | None = None
    optional: bool = False
    note: str = ""
    resamples: int = RESAMPLES
    interval: IntervalBasis | None = IntervalBasis()
    comparison: ComparisonBasis = ComparisonBasis()

    @property
    def rows(self) -> Mask | None:
        """The mask of the rows that contribute; None if unknown."""
        return None if self.inputs is None else contributing(self.inputs)


def ratio(numerator: Values, denominator: Values) -> Kernel:
    """Return the kernel of a ratio of weighted sums of two columns; NaN where the denominator is 0."""
    columns = np.column_stack([numerator, denominator])

    def kernel(weights: Weights) -> Values:
        sums = weights @ columns
        return divide(sums[:, 0], sums[:, 1])

    return kernel


def on_rows(rows: Indices, kernel: Kernel) -> Kernel:
    """Return the kernel of some of the rows, without a copy of the weights if these are all."""
    return lambda weights: kernel(weights if len(rows) == weights.shape[1] else weights.take(rows, axis=1))


def contributing(inputs: Values) -> Mask:
    """Return the mask of the rows that contribute to a statistic with these inputs."""
    return np.asarray(~np.isnan(inputs).any(axis=1), dtype=np.bool_)


def divide(numerator: Values, denominator: Values) -> Values:
    """Divide element by element; NaN where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full_like(numerator, np.nan), where=denominator > 0)


def mean(
    name: str, values: Values, among: Mask, *, limits: Interval = (0.0, math.inf), unobserved: float = 0.0, **more: Any
) -> Statistic:
    """Return the mean of a column, over the rows of a mask; `more` are further fields of the `Statistic`."""
    kept = np.where(among, values, 0.0)
    error, kernel = standard_error(kept, among), ratio(kept, among.astype(np.float64))
    basis = IntervalBasis(error=error, terms=values[among], limits=limits, unobserved=unobserved, sequential=True)
    fields: dict[str, Any] = {"inputs": masked(values, among), "interval": basis, **more}
    return Statistic(name=name, kernel=kernel, n=int(among.sum()), **fields)


def proportion(name: str, hits: Mask, among: Mask, **more: Any) -> Statistic:
    """Return the share of hits among the rows of a mask; `more` are further fields of the `Statistic`."""
    column, n = (hits & among).astype(np.float64), int(among.sum())
    kernel, inputs = ratio(column, among.astype(np.float64)), masked(column, among)
    basis = IntervalBasis(successes=int(column.sum()), rows=n, sequential=True)
    return Statistic(name=name, kernel=kernel, n=n, bounds=SHARE, inputs=inputs, interval=basis, **more)


def rarer(hits: Mask) -> int:
    """Return the number of rows of the rarer kind, right or wrong."""
    return int(min(hits.sum(), (~hits).sum()))


def masked(column: Values, among: Mask) -> Values:
    """Return a column as the inputs of a statistic over the rows of a mask."""
    return np.where(among, column, np.nan)[:, None]


def standard_error(values: Values, among: Mask) -> Kernel:
    """Return the kernel of the standard error of the mean of independent rows of a mask.

    It squares distances from the mean, relative to the greatest distance, which may have 200 digits.
    """
    away = np.where(among, values - (values[among].mean() if among.any() else 0.0), 0.0)
    greatest = float(np.max(np.abs(away), initial=0.0)) or 1.0
    columns = np.column_stack([among, away / greatest, np.square(away / greatest)])

    def kernel(weights: Weights) -> Values:
        n, sums, squares = (weights @ columns).T
        means = divide(sums, n)
        return greatest * np.sqrt(divide(np.maximum(divide(squares, n) - means**2, 0.0), n - 1))

    return kernel


def in_blocks(weights: Counts, kernel: Kernel) -> Values:
    """Return the values of the kernel in all resamples, computed block by block."""
    return np.concatenate([kernel(block) for block in blocks(weights)])


def blocks(weights: Counts) -> Iterator[Weights]:
    """Yield the weights in blocks of resamples, as floats for a kernel."""
    size = max(1, _WEIGHTS_AT_ONCE // weights.shape[1])
    for start in range(0, len(weights), size):
        yield weights[start : start + size].astype(np.float64, copy=False)
