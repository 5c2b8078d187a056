"""A statistic: one number of weighted rows. Its value has unit weights, its interval resampled ones.

Both come out of the same kernel, so that a value and its interval can never disagree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pytest_puma.core import Measure
from pytest_puma.stats import (
    LEVEL,
    RESAMPLES,
    Interval,
    Resamples,
    effective_wilson,
    expanded_percentile_interval,
    mean_interval,
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
#: Numbers that are no means are marked where fewer answers than this are wrong, or right.
ODD = 10
#: Means are marked where one term is a larger share of their sum: there are few that count, or the tail is heavy.
LARGEST = 0.1
SHARE: Interval = (0.0, 1.0)
CORRELATION: Interval = (-1.0, 1.0)
#: So many times must rows occur on average, for counting them to pay.
_TIMES = 4
_WEIGHTS_AT_ONCE = 200_000  # 1.6 MB: the kernels then read them from the processor's cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A named kernel and what its number rests on.

    `n`: rows behind it; `successes`: of these, where it is a proportion; `bounds`: what it lies between; `error`: the
    kernel of the standard error of a mean, and `terms`: the numbers it is the mean of, relative to any unit; `root`:
    it is the square root of such a mean; `ceiling`: the mean lies below; `unseen`: how great a term would be where all
    are alike; `resamples`: how many its interval needs; `bare`: it has no interval; `few`, `odd`: see `_note`;
    `optional`: left out, instead of NaN, when no row is behind it; `inputs`: what each row gives to the number (rows x
    columns), NaN where it gives nothing, None where that is unknown.
    """

    name: str
    kernel: Kernel
    n: int
    successes: int | None = None
    bounds: Interval | None = None
    error: Kernel | None = None
    terms: NDArray[np.float64] | None = None
    root: bool = False
    ceiling: float = math.inf
    unseen: float = 0.0
    resamples: int = RESAMPLES
    few: int = FEW
    odd: int | None = None
    bare: bool = False
    optional: bool = False
    note: str = ""
    inputs: NDArray[np.float64] | None = None

    @property
    def averages(self) -> bool:
        """Whether it is a mean, or as smooth as one: its interval is then valid at looks before the end, too."""
        return (self.error is not None and not self.root) or self.bounds == SHARE


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
        error=standard_error(kept, among),
        terms=values[among],
        ceiling=ceiling,
        unseen=unseen,
        n=int(among.sum()),
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


def measure(
    statistics: Sequence[Statistic], resamples: Resamples, *, level: float = LEVEL, left: float = 1.0
) -> list[Measure]:
    """Each statistic's value with the interval of this level that suits it.

    Where the rows are a part of those that will be asked, `left` is the share of the others: then the intervals are for
    what all of them will give, instead of for the population that they are drawn from.
    """
    wanted = [s for s in statistics if s.n and not s.bare and (resamples.dependent or s.successes is None)]
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
        yield weights[start : start + size].astype(np.float64, copy=False)


def _measure(
    statistic: Statistic, resamples: Resamples, drawn: tuple[Values, ...], level: float, left: float
) -> Measure:
    value = float(statistic.kernel(np.ones((1, len(resamples))))[0]) if statistic.n else math.nan
    low = high = math.nan
    if not math.isnan(value) and not statistic.bare:
        low, high = _interval(statistic, value, resamples, drawn, level, left)
        # Percentiles of a biased statistic may lie to one side of it; its interval must hold it.
        low, high = min(low, value), max(high, value)
    note = _note(statistic, value, resamples)
    return Measure(metric=statistic.name, value=value, low=low, high=high, n=statistic.n, note=note, level=level)


def _interval(  # noqa: PLR0917
    statistic: Statistic, value: float, resamples: Resamples, drawn: tuple[Values, ...], level: float, left: float
) -> Interval:
    if not drawn:
        return wilson(statistic.successes or 0, statistic.n, level, left=left)
    n = min(statistic.n, resamples.independent)
    if statistic.bounds is not None:
        return effective_wilson(value, drawn[0], n, bounds=statistic.bounds, level=level, left=left)
    if statistic.terms is not None and len(drawn) > 1:
        low, high = _of_terms(statistic, statistic.terms, value, drawn[0], drawn[1], level)
    else:
        low, high = expanded_percentile_interval(drawn[0], n, level)
    nearer = math.sqrt(left)
    return value - (value - low) * nearer, value + (high - value) * nearer


def _of_terms(  # noqa: PLR0917
    statistic: Statistic, terms: Values, value: float, values: Values, errors: Values, level: float
) -> Interval:
    """The interval of a mean, or of the square root of one, whose terms then are relative to a unit."""
    if not statistic.root:
        low, high = mean_interval(terms, values, errors, unseen=statistic.unseen, level=level)
        return max(low, 0.0), min(high, statistic.ceiling)
    unit = value / math.sqrt(terms.mean()) if value else 1.0
    low, high = mean_interval(terms, np.square(values / unit), errors, unseen=statistic.unseen, level=level)
    return unit * math.sqrt(max(low, 0.0)), unit * math.sqrt(high)


def _is_lopsided(statistic: Statistic) -> bool:
    """A proportion near 0 or 1, of few samples: whether Wilson's interval holds it hangs on single counts."""
    hits = statistic.successes
    return hits is not None and statistic.n < ENOUGH and min(hits, statistic.n - hits) < LOPSIDED


def _note(statistic: Statistic, value: float, resamples: Resamples) -> str:
    """What a reader must know, and why the interval holds less than 93 of 100 truths where it does.

    `few`: the statistic has fewer rows; `odd`: so many rows are of the rarer kind, right or wrong; of `terms`, one is a
    large share of their sum.
    """
    if math.isnan(value):
        return "; ".join(filter(None, [statistic.note, "nothing to measure"]))
    if statistic.bare:
        return statistic.note
    doubt = _doubt(statistic, resamples)
    return "; ".join(filter(None, [statistic.note, f"{doubt}: the interval is approximate" if doubt else ""]))


def _doubt(statistic: Statistic, resamples: Resamples) -> str:
    terms = statistic.terms
    if statistic.n < statistic.few:
        return f"n under {statistic.few}"
    if resamples.dependent and resamples.independent < FEW:
        return f"under {FEW} independent units"
    if _is_lopsided(statistic):
        return f"under {LOPSIDED} on one side"
    if statistic.odd is not None and statistic.odd < ODD:
        return f"under {ODD} answers are right, or under {ODD} wrong"
    if terms is None or np.all(terms == terms[0]):
        return "" if terms is None or terms[0] or not statistic.unseen else "no error was seen"
    above = terms - terms.min()
    largest = float(above.max() / above.sum())
    return f"one sample is {largest:.0%} of all that differs" if largest > LARGEST else ""
