"""A statistic: one number of weighted rows. Its value has unit weights, its interval resampled ones.

Both come out of the same kernel, so that a value and its interval can never disagree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pytest_puma.core import Direction
from pytest_puma.core.change import PairedTest
from pytest_puma.stats import RESAMPLES, Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Weights: TypeAlias = NDArray[np.float64]  # resamples x rows
    Values: TypeAlias = NDArray[np.float64]  # resamples
    Kernel: TypeAlias = Callable[[Weights], Values]

FEW = 30
SHARE: Interval = (0.0, 1.0)
CORRELATION: Interval = (-1.0, 1.0)
#: So many times must rows occur on average, for counting them to pay.
_TIMES = 4
_WEIGHTS_AT_ONCE = 200_000  # 1.6 MB: the kernels then read them from the processor's cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A named kernel, and what its value and its interval depend on.

    Meaning: `better`: which values are better; `unit`: of the value; `bounds`: its minimum and maximum.

    Value: `n`: rows behind it; `inputs`: the contribution of each row (rows x columns), NaN if it contributes nothing,
    None if unknown; `rebuild`: the name in `kernels.BUILDERS` of the function that makes the kernel of such inputs,
    empty if there is none; `optional`: left out, in place of NaN, if no row is behind it.

    Interval: `successes`: the count of a proportion; `error`: the kernel of the standard error of a mean, and `terms`:
    the numbers it is the mean of, relative to any unit; `root`: it is the square root of such a mean; `floor`,
    `ceiling`: the mean lies between; `unseen`: the size of a term to expect although all terms are equal; `resamples`:
    how many the interval needs; `bare`: no interval; `few`, `odd`: see `measuring`; `steady`: its interval is valid at
    looks before the end, too.

    Comparison: `test`: the paired test about the metric itself; `losses`: how bad each row is for this metric, NaN for
    a row that does not count, None if these are the losses of the answers of all rows. `scored`: they are those of the
    metric itself, not of the answers.
    """

    name: str
    kernel: Kernel
    n: int
    better: Direction = "high"
    unit: str = ""
    bounds: Interval | None = None
    inputs: NDArray[np.float64] | None = None
    rebuild: str = ""
    optional: bool = False
    note: str = ""
    successes: int | None = None
    error: Kernel | None = None
    terms: NDArray[np.float64] | None = None
    root: bool = False
    floor: float = 0.0
    ceiling: float = math.inf
    unseen: float = 0.0
    resamples: int = RESAMPLES
    few: int = FEW
    odd: int | None = None
    bare: bool = False
    steady: bool = False
    test: PairedTest = "bootstrap"
    losses: NDArray[np.float64] | None = None
    scored: bool = False


def ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> Kernel:
    """Weighted sum over weighted sum of two columns; NaN where the denominator is 0."""
    columns = np.column_stack([numerator, denominator])

    def kernel(weights: Weights) -> Values:
        sums = weights @ columns
        return divide(sums[:, 0], sums[:, 1])

    return kernel


def distinct(build: Callable[..., Kernel], *columns: NDArray[np.float64]) -> Kernel:
    """The kernel that is built of some columns, computed from how often each row of them occurs.

    Of labels and points there are few different rows, however many samples there are.
    """
    if not columns[0].size:
        return build(*columns)
    rows, places = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    if rows.shape[0] * _TIMES > columns[0].size:
        return build(*columns)
    kernel, members = build(*rows.T), 1.0 * (places.reshape(-1, 1) == np.arange(rows.shape[0]))
    return lambda weights: kernel(weights @ members)


def of_rows(name: str, build: Callable[..., Kernel], inputs: NDArray[np.float64], **more: Any) -> Statistic:
    """The statistic whose kernel is built of the columns of its inputs, of those rows that give it anything.

    `more` are further fields of the `Statistic`.
    """
    rows = np.flatnonzero(known(inputs))
    kernel = on_rows(rows, build(*inputs[rows].T))
    return Statistic(name=name, kernel=kernel, n=len(rows), inputs=inputs, **more)


def on_rows(rows: NDArray[np.intp], kernel: Kernel) -> Kernel:
    """The kernel of some of the rows; of all of them, without a copy of their weights."""
    return lambda weights: kernel(weights if len(rows) == weights.shape[1] else weights[:, rows])


def known(inputs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows give anything to a statistic with these inputs."""
    return np.asarray(~np.isnan(inputs).any(axis=1), dtype=np.bool_)


def divide(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Element by element; NaN where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full_like(numerator, np.nan), where=denominator > 0)


def mean(
    name: str,
    values: NDArray[np.float64],
    among: NDArray[np.bool_],
    *,
    better: Direction,
    rebuild: str = "",
    test: PairedTest = "bootstrap",
    ceiling: float = math.inf,
    unseen: float = 0.0,
    optional: bool = False,
    note: str = "",
) -> Statistic:
    """The mean of a column over the rows of a mask; no value is negative."""
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
        inputs=given(values, among),
    )


def proportion(
    name: str,
    hits: NDArray[np.bool_],
    among: NDArray[np.bool_],
    *,
    better: Direction,
    test: PairedTest = "bootstrap",
) -> Statistic:
    """The share of hits among the rows of a mask."""
    hits = hits & among
    kernel = ratio(hits.astype(np.float64), among.astype(np.float64))
    return Statistic(
        name=name,
        kernel=kernel,
        n=int(among.sum()),
        better=better,
        test=test,
        successes=int(hits.sum()),
        bounds=SHARE,
        steady=True,
        inputs=given(hits.astype(np.float64), among),
    )


def rarer(hits: NDArray[np.bool_]) -> int:
    """How many are of the rarer kind, right or wrong."""
    return int(min(hits.sum(), (~hits).sum()))


def given(column: NDArray[np.float64], among: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A column as the inputs of a statistic of the rows of a mask."""
    return np.where(among, column, np.nan)[:, None]


def standard_error(values: NDArray[np.float64], among: NDArray[np.bool_]) -> Kernel:
    """The kernel of the standard error of the mean of independent rows of a mask.

    Squares are of distances from the mean, and relative to the greatest of these, which may have 200 digits.
    """
    away = np.where(among, values - (values[among].mean() if among.any() else 0.0), 0.0)
    greatest = float(np.max(np.abs(away), initial=0.0)) or 1.0
    columns = np.column_stack([among, away / greatest, np.square(away / greatest)])

    def kernel(weights: Weights) -> Values:
        n, sums, squares = (weights @ columns).T
        means = divide(sums, n)
        return greatest * np.sqrt(divide(np.maximum(divide(squares, n) - means**2, 0.0), n - 1))

    return kernel


def in_blocks(weights: NDArray[np.integer], kernel: Kernel) -> Values:
    """The kernel of many resamples, some at a time."""
    return np.concatenate([kernel(block) for block in blocks(weights)])


def blocks(weights: NDArray[np.integer]) -> Iterator[Weights]:
    """The weights of some resamples at a time, as numbers that a kernel takes."""
    size = max(1, _WEIGHTS_AT_ONCE // weights.shape[1])
    for start in range(0, len(weights), size):
        yield weights[start : start + size].astype(np.float64, copy=False)
