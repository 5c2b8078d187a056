"""A statistic measured: its value, the interval that suits it, and a word where the interval holds too little."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Measure
from pytest_puma.metrics.questions import count_questions
from pytest_puma.metrics.statistic import CORRELATION, FEW, Statistic, blocks, known
from pytest_puma.stats import (
    LEVEL,
    Interval,
    Resamples,
    effective_wilson,
    expanded_percentile_interval,
    mean_interval,
    wilson,
)

if TYPE_CHECKING:
    from pytest_puma.metrics.statistic import Kernel, Values

#: Proportions of fewer rows than enough, with so few hits or misses, are marked.
ENOUGH, LOPSIDED = 100, 5
#: Numbers that are no means are marked where fewer answers than this are wrong, or right: correlations need more.
ODD, ODD_OF_CORRELATIONS = 10, 20
#: Means are marked where one term is a larger share of their sum: there are few that count, or the tail is heavy. Where
#: terms have no upper bound, samples that happen to hold no large one look harmless.
LARGEST, LARGEST_WITHOUT_BOUND = 0.1, 0.05


def measure(
    statistics: Sequence[Statistic],
    resamples: Resamples,
    *,
    level: float = LEVEL,
    left: float = 1.0,
    questions: Sequence[int] = (),
) -> list[Measure]:
    """Each statistic's value with the interval of this level that suits it.

    Where the rows are a part of those that will be asked, `left` is the share of the others: then the intervals are for
    what all of them will give, instead of for the population that they are drawn from.
    """
    wanted = [s for s in statistics if s.n and not s.bare and (resamples.dependent or s.successes is None)]
    replicates = _bootstrap(wanted, resamples) if wanted else {}
    return [_measure(each, resamples, replicates.get(each.name, ()), level, left, questions) for each in statistics]


def _bootstrap(statistics: Sequence[Statistic], resamples: Resamples) -> dict[str, tuple[Values, ...]]:
    """The values of each in every resample; behind them, of means of independent rows, the standard errors."""
    replicates: dict[str, tuple[Values, ...]] = {}
    for size in dict.fromkeys(statistic.resamples for statistic in statistics):
        kernels = {s.name: _kernels(s, resamples) for s in statistics if s.resamples == size}
        parts = [
            [[kernel(block) for kernel in each] for each in kernels.values()]
            for block in blocks(resamples.weights[:size])
        ]
        for name, *found in zip(kernels, *parts, strict=True):
            replicates[name] = tuple(map(np.concatenate, zip(*found, strict=True)))
    return replicates


def _kernels(statistic: Statistic, resamples: Resamples) -> list[Kernel]:
    if statistic.error is None or resamples.dependent:
        return [statistic.kernel]
    return [statistic.kernel, statistic.error]


def _measure(  # noqa: PLR0917
    statistic: Statistic,
    resamples: Resamples,
    replicates: tuple[Values, ...],
    level: float,
    left: float,
    questions: Sequence[int],
) -> Measure:
    value = float(statistic.kernel(np.ones((1, len(resamples))))[0]) if statistic.n else math.nan
    low = high = math.nan
    if not math.isnan(value) and not statistic.bare:
        low, high = _interval(statistic, value, resamples, replicates, level, left)
        # Percentiles of a biased statistic may lie to one side of it; its interval must hold it.
        low, high = min(low, value), max(high, value)
    rows = np.ones(len(resamples), dtype=np.bool_) if statistic.inputs is None else known(statistic.inputs)
    return Measure(
        metric=statistic.name,
        value=value,
        low=low,
        high=high,
        n=count_questions(rows, questions) if questions else statistic.n,
        note=_note(statistic, value, resamples),
        level=level,
        better=statistic.better,
        unit=statistic.unit,
    )


def _interval(  # noqa: PLR0917
    statistic: Statistic, value: float, resamples: Resamples, replicates: tuple[Values, ...], level: float, left: float
) -> Interval:
    if not replicates:
        return wilson(statistic.successes or 0, statistic.n, level, left=left)
    n = min(statistic.n, resamples.independent)
    if statistic.bounds is not None:
        return effective_wilson(value, replicates[0], n, bounds=statistic.bounds, level=level, left=left)
    if statistic.terms is not None and len(replicates) > 1:
        low, high = _of_terms(statistic, statistic.terms, value, replicates[0], replicates[1], level)
    else:
        low, high = expanded_percentile_interval(replicates[0], n, level)
    nearer = math.sqrt(left)
    return value - (value - low) * nearer, value + (high - value) * nearer


def _of_terms(  # noqa: PLR0917
    statistic: Statistic, terms: Values, value: float, values: Values, errors: Values, level: float
) -> Interval:
    """The interval of a mean, or of the square root of one, whose terms then are relative to a unit."""
    if not statistic.root:
        low, high = mean_interval(terms, values, errors, unseen=statistic.unseen, level=level)
        return max(low, statistic.floor), min(high, statistic.ceiling)
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
    odd = ODD_OF_CORRELATIONS if statistic.bounds == CORRELATION else ODD
    if statistic.odd is not None and statistic.odd < odd:
        if statistic.scored:
            return f"under {odd} scores differ from the most frequent one"
        return f"under {odd} answers are right, or under {odd} wrong"
    return "" if terms is None else _doubt_of_terms(statistic, terms)


def _doubt_of_terms(statistic: Statistic, terms: Values) -> str:
    """The doubt about a mean: no spread was seen, or a few terms are most of it."""
    if np.all(terms == terms[0]):
        if statistic.scored and statistic.bounds is None:
            return "all scores are equal"
        return "" if terms[0] or not statistic.unseen else "no error was seen"
    above = terms - terms.min()
    largest = float(above.max() / above.sum())
    maximum = LARGEST if math.isfinite(statistic.ceiling) else LARGEST_WITHOUT_BOUND
    return f"one sample is {largest:.0%} of all that differs" if largest > maximum else ""
