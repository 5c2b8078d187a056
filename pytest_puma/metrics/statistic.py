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
from pytest_puma.stats import RESAMPLES, Interval, Units, percentile_interval, resampling_weights, share_units, wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Weights: TypeAlias = NDArray[np.float64]  # resamples x rows
    Values: TypeAlias = NDArray[np.float64]  # resamples
    Kernel: TypeAlias = Callable[[Weights], Values]

FEW = 30
_WEIGHTS_AT_ONCE = 200_000  # 1.6 MB: the kernels then read them from the processor's cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A named kernel and what its number rests on.

    `n`: rows behind it; `successes`: of these, where it is a proportion; `resamples`: how many its
    interval needs; `optional`: left out, instead of NaN, when no row is behind it.
    """

    name: str
    kernel: Kernel
    n: int
    successes: int | None = None
    resamples: int = RESAMPLES
    optional: bool = False
    note: str = ""


def ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> Kernel:
    """Weighted sum over weighted sum of two columns; NaN where the denominator is 0."""
    columns = np.column_stack([numerator, denominator])

    def kernel(weights: Weights) -> Values:
        sums = weights @ columns
        return divide(sums[:, 0], sums[:, 1])

    return kernel


def divide(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Element by element; NaN where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full_like(numerator, np.nan), where=denominator > 0)


def mean(
    name: str, values: NDArray[np.float64], among: NDArray[np.bool_], *, optional: bool = False, note: str = ""
) -> Statistic:
    """The mean of a column over the rows of a mask."""
    kernel = ratio(np.where(among, values, 0.0), among.astype(np.float64))
    return Statistic(name=name, kernel=kernel, n=int(among.sum()), optional=optional, note=note)


def proportion(name: str, hits: NDArray[np.bool_], among: NDArray[np.bool_]) -> Statistic:
    """The share of hits among the rows of a mask."""
    hits = hits & among
    kernel = ratio(hits.astype(np.float64), among.astype(np.float64))
    return Statistic(name=name, kernel=kernel, n=int(among.sum()), successes=int(hits.sum()))


def measure(statistics: Sequence[Statistic], units: Units, *, seed: int) -> list[Measure]:
    """Each statistic's value with its 95 % interval: Wilson for proportions of independent rows, else bootstrap."""
    dependent = share_units(units)
    resampled = [s for s in statistics if s.n and (dependent or s.successes is None)]
    intervals = _bootstrap(resampled, units, seed) if resampled else {}
    return [_measure(statistic, len(units), intervals.get(statistic.name)) for statistic in statistics]


def _bootstrap(statistics: Sequence[Statistic], units: Units, seed: int) -> dict[str, Interval]:
    weights = resampling_weights(units, seed=seed)
    intervals = {}
    for resamples in dict.fromkeys(statistic.resamples for statistic in statistics):
        alike = [statistic for statistic in statistics if statistic.resamples == resamples]
        blocks = [[s.kernel(block) for s in alike] for block in _blocks(weights[:resamples])]
        for statistic, *values in zip(alike, *blocks, strict=True):
            intervals[statistic.name] = percentile_interval(np.concatenate(values))
    return intervals


def in_blocks(weights: NDArray[np.int32], kernel: Kernel) -> Values:
    """The kernel of many resamples, some at a time."""
    return np.concatenate([kernel(block) for block in _blocks(weights)])


def _blocks(weights: NDArray[np.int32]) -> Iterator[Weights]:
    size = max(1, _WEIGHTS_AT_ONCE // weights.shape[1])
    for start in range(0, len(weights), size):
        yield weights[start : start + size].astype(np.float64)


def _measure(statistic: Statistic, rows: int, interval: Interval | None) -> Measure:
    value = float(statistic.kernel(np.ones((1, rows)))[0]) if statistic.n else math.nan
    low = high = math.nan
    if not math.isnan(value):
        low, high = interval or wilson(statistic.successes or 0, statistic.n)
        # A biased statistic (ece) may lie outside the percentiles of its resamples; its interval must hold it.
        low, high = min(low, value), max(high, value)
    return Measure(metric=statistic.name, value=value, low=low, high=high, n=statistic.n, note=_note(statistic, value))


def _note(statistic: Statistic, value: float) -> str:
    notes = [statistic.note]
    if math.isnan(value):
        notes.append("nothing to measure")
    elif statistic.n < FEW:
        notes.append(f"n under {FEW}: the interval is approximate")
    return "; ".join(filter(None, notes))
