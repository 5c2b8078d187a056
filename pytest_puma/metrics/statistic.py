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
from pytest_puma.stats.arrays import Counts, Indices, Mask, Values, Weights
from pytest_puma.stats.intervals import Interval
from pytest_puma.stats.resampling import RESAMPLES

Kernel: TypeAlias = Callable[[Weights], Values]

MIN_ROWS = 30
SHARE: Interval = (0.0, 1.0)
CORRELATION: Interval = (-1.0, 1.0)
#: Counting equal rows pays if each occurs this often on average.
_MIN_REPEATS = 4
_WEIGHTS_AT_ONCE = 200_000  # 1.6 MB, which fits the processor's cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A named kernel, with the data for its value, its interval and its comparison.

    Meaning: `better`: which values are better; `unit`: of the value; `bounds`: its minimum and maximum.

    Value: `n`: its number of rows; `inputs`: the contribution of each row (rows x columns), NaN for none, None if
    unknown; `rebuild`: the name in `kernels.BUILDERS` of the builder of the kernel from such inputs, empty if
    there is none; `optional`: left out, not NaN, if it has no rows.

    Interval: `successes`: the count of a proportion; `rows`: that of a proportion, or of a mean of proportions, which
    is never more certain if rows share units; `error`: the kernel of the standard error of a mean, and `terms`:
    the numbers to average, in any unit; `root`: it is the square root of such a mean; `floor`, `ceiling`: bounds of the
    mean; `unseen`: the expected size of another term if all terms are equal; `resamples`: the number that the interval
    needs; `bare`: no interval; `min_rows`: with fewer rows the interval is approximate; `odd`: the number of rows of
    the rarer kind, right or wrong; `steady`: its interval is also valid at interim looks.

    Comparison: `test`: the paired test of the metric itself; `losses`: the loss of each row for this metric, NaN for a
    row that does not count, None for the losses of the answers of all rows; `scored`: they are losses of the metric
    itself, not of the answers; `groups`: the group of each row if it is the mean over groups of different sizes, -1 for
    none.
    """

    name: str
    kernel: Kernel
    n: int
    better: Direction = "high"
    unit: str = ""
    bounds: Interval | None = None
    inputs: Values | None = None
    rebuild: str = ""
    optional: bool = False
    note: str = ""
    successes: int | None = None
    rows: float = math.inf
    error: Kernel | None = None
    terms: Values | None = None
    root: bool = False
    floor: float = 0.0
    ceiling: float = math.inf
    unseen: float = 0.0
    resamples: int = RESAMPLES
    min_rows: int = MIN_ROWS
    odd: int | None = None
    bare: bool = False
    steady: bool = False
    test: PairedTest = "bootstrap"
    losses: Values | None = None
    scored: bool = False
    groups: tuple[int, ...] = ()


def ratio(numerator: Values, denominator: Values) -> Kernel:
    """Return the kernel of a ratio of weighted sums of two columns; NaN where the denominator is 0."""
    columns = np.column_stack([numerator, denominator])

    def kernel(weights: Weights) -> Values:
        sums = weights @ columns
        return divide(sums[:, 0], sums[:, 1])

    return kernel


def distinct(build: Callable[..., Kernel], *columns: Values) -> Kernel:
    """Return the kernel that `build` makes of the columns, computed from the counts of distinct rows.

    Labels and points have few distinct rows, however many samples there are.
    """
    if not columns[0].size:
        return build(*columns)
    rows, places = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    if rows.shape[0] * _MIN_REPEATS > columns[0].size:
        return build(*columns)
    kernel, members = build(*rows.T), 1.0 * (places.reshape(-1, 1) == np.arange(rows.shape[0]))
    return lambda weights: kernel(weights @ members)


def of_rows(name: str, build: Callable[..., Kernel], inputs: Values, **more: Any) -> Statistic:
    """Return the statistic with a kernel that `build` makes of the columns of its inputs, of the contributing rows.

    `more` are further fields of the `Statistic`.
    """
    rows = np.flatnonzero(contributing(inputs))
    kernel = on_rows(rows, build(*inputs[rows].T))
    return Statistic(name=name, kernel=kernel, n=len(rows), inputs=inputs, **more)


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
    name: str,
    values: Values,
    among: Mask,
    *,
    better: Direction,
    rebuild: str = "",
    test: PairedTest = "bootstrap",
    ceiling: float = math.inf,
    unseen: float = 0.0,
    optional: bool = False,
    note: str = "",
) -> Statistic:
    """Return the mean of a column without negative values, over the rows of a mask."""
    kept = np.where(among, values, 0.0)
    return Statistic(
        name=name,
        kernel=ratio(kept, among.astype(np.float64)),
        better=better,
        rebuild=rebuild,
        error=standard_error(kept, among),
        terms=values[among],
        steady=True,
        test=test,
        ceiling=ceiling,
        unseen=unseen,
        n=int(among.sum()),
        optional=optional,
        note=note,
        inputs=masked(values, among),
    )


def proportion(
    name: str,
    hits: Mask,
    among: Mask,
    *,
    better: Direction,
    test: PairedTest = "bootstrap",
) -> Statistic:
    """Return the share of hits among the rows of a mask."""
    hits = hits & among
    kernel = ratio(hits.astype(np.float64), among.astype(np.float64))
    return Statistic(
        name=name,
        kernel=kernel,
        n=int(among.sum()),
        better=better,
        test=test,
        successes=int(hits.sum()),
        rows=int(among.sum()),
        bounds=SHARE,
        steady=True,
        inputs=masked(hits.astype(np.float64), among),
    )


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
