"""Measures of statistics: a value, the interval that suits it, and a note if its coverage is too low."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from pytest_puma.core import LEVEL, Measure
from pytest_puma.metrics.group_weights import evenness, row_weights
from pytest_puma.metrics.questions import count_questions
from pytest_puma.metrics.statistic import CORRELATION, MIN_ROWS, Kernel, Statistic, blocks, contributing
from pytest_puma.stats.arrays import Mask, Values
from pytest_puma.stats.intervals import Interval, effective_wilson, expanded_percentile_interval, mean_interval, wilson
from pytest_puma.stats.resampling import Resamples

#: By statistic: its values in all resamples, then its standard errors if its interval needs them.
Replicates: TypeAlias = Mapping[str, tuple[Values, ...]]

#: Proportions of fewer rows with fewer hits or misses than this get a note.
MIN_PROPORTION_ROWS, MIN_SIDE = 100, 5
#: Statistics that are no means get a note if fewer answers than this are wrong, or right; correlations need more.
MIN_MINORITY, MIN_MINORITY_OF_CORRELATIONS = 10, 20
#: Means get a note if one term is a larger share of their sum: few terms count, or the tail is heavy. Terms without an
#: upper bound have a lower maximum, because a sample may contain no large term by chance.
MAX_SHARE, MAX_SHARE_WITHOUT_BOUND = 0.1, 0.05
#: Means over groups of numbers that are no proportions get a note if a group has fewer rows.
MIN_GROUP = 10
_CONSTANT = "the same in all resamples: no interval"


def measure(
    statistics: Sequence[Statistic],
    resamples: Resamples,
    *,
    level: float = LEVEL,
    left: float = 1.0,
    questions: Sequence[int] = (),
    replicates: Replicates | None = None,
) -> list[Measure]:
    """Return the value of each statistic with the interval of this level that suits it.

    If only a part of the planned rows was answered, `left` is the share of the others. The intervals are then for the
    value over all planned rows, not for the population from which they are sampled. `replicates`: those of all
    statistics, computed here if None.
    """
    resampled = {s.name for s in statistics if s.n and not s.bare and (resamples.dependent or s.successes is None)}
    if replicates is None:
        replicates = bootstrap([s for s in statistics if s.name in resampled], resamples)
    return [
        _measure(each, resamples, replicates[each.name] if each.name in resampled else (), level, left, questions)
        for each in statistics
    ]


def bootstrap(statistics: Sequence[Statistic], resamples: Resamples) -> Replicates:
    """Return the values of each statistic in all resamples, and the standard errors that its interval needs."""
    replicates: dict[str, tuple[Values, ...]] = {}
    for size in dict.fromkeys(statistic.resamples for statistic in statistics):
        kernels = {s.name: _kernels(s, resamples) for s in statistics if s.resamples == size}
        parts = [
            [[kernel(block) for kernel in each] for each in kernels.values()]
            for block in blocks(resamples.weights[:size])
        ]
        for name, *blocks_of_values in zip(kernels, *parts, strict=True):
            replicates[name] = tuple(map(np.concatenate, zip(*blocks_of_values, strict=True)))
    return replicates


def _kernels(statistic: Statistic, resamples: Resamples) -> list[Kernel]:
    if statistic.error is None or statistic.bounds is not None or resamples.dependent:
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
    # A metric may return -0.0, which would be shown as -0; the sum is 0.0.
    value = float(statistic.kernel(np.ones((1, len(resamples))))[0]) + 0.0 if statistic.n else math.nan
    low = high = math.nan
    if not math.isnan(value) and not statistic.bare:
        low, high = _interval(statistic, value, resamples, replicates, level, left)
        # Both percentiles of a biased statistic may be above or below it; its interval must contain it.
        low, high = min(low, value) + 0.0, max(high, value) + 0.0
    # Nobody knows on how many rows the value of an own metric rests: that no resample differs shows nothing.
    constant = statistic.inputs is None and low == high
    if constant:
        low = high = math.nan
    rows = _rows(statistic, resamples)
    return Measure(
        metric=statistic.name,
        value=value,
        low=low,
        high=high,
        n=count_questions(rows, questions) if questions else statistic.n,
        note=_CONSTANT if constant else _note(statistic, value, resamples),
        level=level,
        better=statistic.better,
        unit=statistic.unit,
    )


def _interval(  # noqa: PLR0917
    statistic: Statistic, value: float, resamples: Resamples, replicates: tuple[Values, ...], level: float, left: float
) -> Interval:
    if not replicates:
        return wilson(statistic.successes or 0, statistic.n, level, left=left)
    n: float = min(statistic.n, _independent(statistic, resamples))
    # Rows that balance each other by chance are no more evidence than independent ones.
    # Neither are small groups without an error, which hide their spread from the resamples.
    rows = statistic.rows if resamples.dependent or statistic.groups else math.inf
    if statistic.groups:
        share = evenness(row_weights(statistic.groups, _rows(statistic, resamples)))
        n, rows = n * share, rows * share
    if statistic.bounds is not None:
        return effective_wilson(value, replicates[0], n, bounds=statistic.bounds, level=level, left=left, rows=rows)
    if statistic.terms is not None and len(replicates) > 1:
        low, high = _of_terms(statistic, statistic.terms, value, replicates[0], replicates[1], level)
    else:
        low, high = expanded_percentile_interval(replicates[0], n, level)
    nearer = math.sqrt(left)
    return value - (value - low) * nearer, value + (high - value) * nearer


def _rows(statistic: Statistic, resamples: Resamples) -> Mask:
    """The mask of the rows that contribute."""
    return np.ones(len(resamples), dtype=np.bool_) if statistic.inputs is None else contributing(statistic.inputs)


def _independent(statistic: Statistic, resamples: Resamples) -> int:
    """Upper bound of the number of independent observations that contribute."""
    return resamples.independent_among(_rows(statistic, resamples)) if resamples.dependent else statistic.n


def _of_terms(  # noqa: PLR0917
    statistic: Statistic, terms: Values, value: float, values: Values, errors: Values, level: float
) -> Interval:
    """The interval of a mean, or of the square root of a mean, whose terms are then relative to a unit."""
    if not statistic.root:
        low, high = mean_interval(terms, values, errors, unseen=statistic.unseen, level=level)
        return max(low, statistic.floor), min(high, statistic.ceiling)
    unit = value / math.sqrt(terms.mean()) if value else 1.0
    low, high = mean_interval(terms, np.square(values / unit), errors, unseen=statistic.unseen, level=level)
    return unit * math.sqrt(max(low, 0.0)), unit * math.sqrt(high)


def _is_lopsided(statistic: Statistic) -> bool:
    """Return True for a proportion near 0 or 1 of few samples: there the coverage of Wilson's interval varies."""
    hits = statistic.successes
    return hits is not None and statistic.n < MIN_PROPORTION_ROWS and min(hits, statistic.n - hits) < MIN_SIDE


def _note(statistic: Statistic, value: float, resamples: Resamples) -> str:
    """The statistic's own note, and the reason if the coverage of its interval may be below 93 %."""
    if math.isnan(value):
        return "; ".join(filter(None, [statistic.note, "nothing to measure"]))
    if statistic.bare:
        return statistic.note
    doubt = _doubt(statistic, resamples)
    return "; ".join(filter(None, [statistic.note, f"{doubt}: the interval is approximate" if doubt else ""]))


def _doubt(statistic: Statistic, resamples: Resamples) -> str:
    terms = statistic.terms
    if statistic.n < statistic.min_rows:
        return f"n under {statistic.min_rows}"
    if dependence := _doubt_of_units(statistic, resamples):
        return dependence
    if _is_lopsided(statistic):
        return f"under {MIN_SIDE} on one side"
    minimum = MIN_MINORITY_OF_CORRELATIONS if statistic.bounds == CORRELATION else MIN_MINORITY
    if statistic.odd is not None and statistic.odd < minimum:
        if statistic.scored:
            return f"under {minimum} scores differ from the most frequent one"
        return f"under {minimum} answers are right, or under {minimum} wrong"
    return "" if terms is None else _doubt_of_terms(statistic, terms)


def _doubt_of_units(statistic: Statistic, resamples: Resamples) -> str:
    """The doubt about the number of independent rows, or about the smallest group of a mean over groups."""
    if resamples.dependent and _independent(statistic, resamples) < MIN_ROWS:
        return f"under {MIN_ROWS} independent units"
    if statistic.groups and math.isinf(statistic.rows):
        groups = np.array(statistic.groups)[_rows(statistic, resamples)]
        smallest = int(np.unique(groups[groups >= 0], return_counts=True)[1].min(initial=len(groups)))
        return f"a group has under {MIN_GROUP} samples" if smallest < MIN_GROUP else ""
    return ""


def _doubt_of_terms(statistic: Statistic, terms: Values) -> str:
    """The doubt about a mean: all terms are equal, or one term is most of their sum."""
    if np.all(terms == terms[0]):
        if statistic.scored and statistic.bounds is None:
            return "all scores are equal"
        return "" if terms[0] or not statistic.unseen else "no error was seen"
    above = terms - terms.min()
    largest = float(above.max() / above.sum())
    maximum = MAX_SHARE if math.isfinite(statistic.ceiling) else MAX_SHARE_WITHOUT_BOUND
    return f"one sample is {largest:.0%} of all that differs" if largest > maximum else ""
