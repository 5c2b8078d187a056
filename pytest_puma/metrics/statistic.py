"""A statistic: one number of weighted rows. Its value has unit weights, its interval resampled ones.

Both come out of the same kernel, so that a value and its interval can never disagree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_puma.core import Measure
from pytest_puma.stats import (
    LEVEL,
    RESAMPLES,
    Interval,
    Resamples,
    effective_wilson,
    percentile_interval,
    studentised_interval,
    wilson,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Weights: TypeAlias = NDArray[np.float64]  # resamples x rows
    Values: TypeAlias = NDArray[np.float64]  # resamples
    Kernel: TypeAlias = Callable[[Weights], Values]

FEW = 30
#: Proportions of fewer rows than enough, with so few hits or misses, are marked.
ENOUGH, LOPSIDED = 100, 5
SHARE: Interval = (0.0, 1.0)
CORRELATION: Interval = (-1.0, 1.0)
#: So many times must rows occur on average, for counting them to pay.
_TIMES = 4
_WEIGHTS_AT_ONCE = 200_000  # 1.6 MB: the kernels then read them from the processor's cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A named kernel and what its number rests on.

    `n`: rows behind it; `successes`: of these, where it is a proportion; `bounds`: what it lies between; `error`: the
    kernel of its standard error, where it is a mean; `resamples`: how many its interval needs; `few`: of fewer rows,
    the interval holds less than 93 of 100 truths; `optional`: left out, instead of NaN, when no row is behind it;
    `inputs`: what each row gives to the number (rows x columns), NaN where it gives nothing, None where that is
    unknown.
    """

    name: str
    kernel: Kernel
    n: int
    successes: int | None = None
    bounds: Interval | None = None
    error: Kernel | None = None
    resamples: int = RESAMPLES
    few: int = FEW
    optional: bool = False
    note: str = ""
    inputs: NDArray[np.float64] | None = None

    @property
    def averages(self) -> bool:
        """Whether it is a mean, or as smooth as one: its interval is then valid at looks before the end, too."""
        return self.error is not None or self.bounds == SHARE


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


def of_rows(
    name: str,
    build: Callable[..., Kernel],
    inputs: NDArray[np.float64],
    *,
    bounds: Interval | None = None,
    few: int = FEW,
    optional: bool = False,
    note: str = "",
) -> Statistic:
    """The statistic whose kernel is built of the columns of its inputs, of those rows that give it anything."""
    rows = np.flatnonzero(known(inputs))
    kernel = on_rows(rows, build(*inputs[rows].T))
    return Statistic(
        name=name, kernel=kernel, n=len(rows), bounds=bounds, few=few, optional=optional, note=note, inputs=inputs
    )


def on_rows(rows: NDArray[np.intp], kernel: Kernel) -> Kernel:
    """The kernel of some of the rows; of all of them, without a copy of their weights."""
    return lambda weights: kernel(weights if len(rows) == weights.shape[1] else weights[:, rows])


def known(inputs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows give anything to a statistic with these inputs."""
    return ~np.isnan(inputs).any(axis=1)


def divide(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Element by element; NaN where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full_like(numerator, np.nan), where=denominator > 0)


def mean(
    name: str,
    values: NDArray[np.float64],
    among: NDArray[np.bool_],
    *,
    few: int = FEW,
    optional: bool = False,
    note: str = "",
) -> Statistic:
    """The mean of a column over the rows of a mask; no value is negative."""
    rows = among.astype(np.float64)
    kept = np.where(among, values, 0.0)
    return Statistic(
        name=name,
        kernel=ratio(kept, rows),
        error=_standard_error(kept, rows),
        n=int(among.sum()),
        few=few,
        optional=optional,
        note=note,
        inputs=given(values, among),
    )


def proportion(name: str, hits: NDArray[np.bool_], among: NDArray[np.bool_]) -> Statistic:
    """The share of hits among the rows of a mask."""
    hits = hits & among
    kernel = ratio(hits.astype(np.float64), among.astype(np.float64))
    return Statistic(
        name=name,
        kernel=kernel,
        n=int(among.sum()),
        successes=int(hits.sum()),
        bounds=SHARE,
        inputs=given(hits.astype(np.float64), among),
    )


def given(column: NDArray[np.float64], among: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A column as the inputs of a statistic of the rows of a mask."""
    return np.where(among, column, np.nan)[:, None]


def _standard_error(values: NDArray[np.float64], among: NDArray[np.float64]) -> Kernel:
    """That of the mean of independent rows. Squares are relative to the greatest value, which may have 200 digits."""
    greatest = float(np.max(values, initial=1.0))
    columns = np.column_stack([among, values / greatest, np.square(values / greatest)])

    def kernel(weights: Weights) -> Values:
        n, sums, squares = (weights @ columns).T
        means = divide(sums, n)
        return greatest * np.sqrt(divide(np.maximum(divide(squares, n) - means**2, 0.0), n - 1))

    return kernel


def measure(
    statistics: Sequence[Statistic], resamples: Resamples, *, level: float = LEVEL, left: float = 1.0
) -> list[Measure]:
    """Each statistic's value with the interval of this level that suits it.

    Where the rows are a part of those that will be asked, `left` is the share of the others: then the intervals are for
    what all of them will give, instead of for the population that they are drawn from.
    """
    wanted = [s for s in statistics if s.n and (resamples.dependent or s.successes is None)]
    drawn = _bootstrap(wanted, resamples) if wanted else {}
    return [_measure(each, resamples, drawn.get(each.name, ()), level, left) for each in statistics]


def _bootstrap(statistics: Sequence[Statistic], resamples: Resamples) -> dict[str, tuple[Values, ...]]:
    """The values of each in every resample; behind them, of means of independent rows, the standard errors."""
    drawn: dict[str, tuple[Values, ...]] = {}
    for size in dict.fromkeys(statistic.resamples for statistic in statistics):
        kernels = {s.name: _kernels(s, resamples) for s in statistics if s.resamples == size}
        blocks = [
            [[kernel(block) for kernel in each] for each in kernels.values()]
            for block in _blocks(resamples.weights[:size])
        ]
        for name, *found in zip(kernels, *blocks, strict=True):
            drawn[name] = tuple(map(np.concatenate, zip(*found, strict=True)))
    return drawn


def _kernels(statistic: Statistic, resamples: Resamples) -> list[Kernel]:
    if statistic.error is None or resamples.dependent:
        return [statistic.kernel]
    return [statistic.kernel, statistic.error]


def in_blocks(weights: NDArray[np.integer], kernel: Kernel) -> Values:
    """The kernel of many resamples, some at a time."""
    return np.concatenate([kernel(block) for block in _blocks(weights)])


def _blocks(weights: NDArray[np.integer]) -> Iterator[Weights]:
    size = max(1, _WEIGHTS_AT_ONCE // weights.shape[1])
    for start in range(0, len(weights), size):
        yield weights[start : start + size].astype(np.float64)


def _measure(
    statistic: Statistic, resamples: Resamples, drawn: tuple[Values, ...], level: float, left: float
) -> Measure:
    value = float(statistic.kernel(np.ones((1, len(resamples))))[0]) if statistic.n else math.nan
    low = high = math.nan
    if not math.isnan(value):
        low, high = _interval(statistic, value, resamples, drawn, level, left)
        # A biased statistic (ece) may lie outside the percentiles of its resamples; its interval must hold it.
        low, high = min(low, value), max(high, value)
    note = _note(statistic, value, resamples)
    return Measure(metric=statistic.name, value=value, low=low, high=high, n=statistic.n, note=note, level=level)


def _interval(  # noqa: PLR0917
    statistic: Statistic, value: float, resamples: Resamples, drawn: tuple[Values, ...], level: float, left: float
) -> Interval:
    if not drawn:
        return wilson(statistic.successes or 0, statistic.n, level, left=left)
    if statistic.bounds is not None:
        n = min(statistic.n, resamples.independent)
        return effective_wilson(value, drawn[0], n, bounds=statistic.bounds, level=level, left=left)
    if statistic.error is not None and not resamples.dependent:
        error = float(statistic.error(np.ones((1, len(resamples))))[0])
        low, high = studentised_interval(value, error, *drawn, level=level)
        low = max(low, 0.0)
    else:
        low, high = percentile_interval(drawn[0], level)
    nearer = math.sqrt(left)
    return value - (value - low) * nearer, value + (high - value) * nearer


def _is_lopsided(statistic: Statistic) -> bool:
    """A proportion near 0 or 1, of few samples: whether Wilson's interval holds it hangs on single counts."""
    hits = statistic.successes
    return hits is not None and statistic.n < ENOUGH and min(hits, statistic.n - hits) < LOPSIDED


def _note(statistic: Statistic, value: float, resamples: Resamples) -> str:
    notes = [statistic.note]
    if math.isnan(value):
        notes.append("nothing to measure")
    elif statistic.n < statistic.few:
        notes.append(f"n under {statistic.few}: the interval is approximate")
    elif resamples.dependent and resamples.independent < FEW:
        notes.append(f"under {FEW} independent units: the interval is approximate")
    elif _is_lopsided(statistic):
        notes.append(f"under {LOPSIDED} on one side: the interval is approximate")
    return "; ".join(filter(None, notes))
