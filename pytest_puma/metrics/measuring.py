"""Measures of statistics: a value, the interval that suits it, and a note if its coverage is too low."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from pytest_puma.core import LEVEL, Measure
from pytest_puma.metrics.evidence import count_questions, evenness, row_weights
from pytest_puma.metrics.statistic import CORRELATION, MIN_ROWS, IntervalBasis, Kernel, Statistic, blocks
from pytest_puma.stats.arrays import Mask, Values
from pytest_puma.stats.intervals import Interval, effective_wilson, expanded_percentile_interval, mean_interval, wilson
from pytest_puma.stats.resampling import Resamples

#: By statistic: its values in all resamples, then its standard errors if its interval needs them.
Replicates: TypeAlias = Mapping[str, tuple[Values, ...]]

#: Proportions of fewer rows with fewer hits or misses than this get a note.
MIN_PROPORTION_ROWS, MIN_SIDE = 100, 5
#: Statistics that are no means get a note if fewer answers than this are wrong, or right; correlations need more.
MIN_RARER, MIN_RARER_OF_CORRELATIONS = 10, 20
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
    resampled = [statistic for statistic in statistics if _is_resampled(statistic, resamples)]
    by_name = bootstrap(resampled, resamples) if replicates is None else replicates
    names = {statistic.name for statistic in resampled}
    return [
        _Measuring(statistic, resamples, level, left).measure(
            by_name[statistic.name] if statistic.name in names else (), questions
        )
        for statistic in statistics
    ]


def _is_resampled(statistic: Statistic, resamples: Resamples) -> bool:
    basis = statistic.interval
    return bool(statistic.n) and basis is not None and (resamples.dependent or basis.successes is None)


def bootstrap(statistics: Sequence[Statistic], resamples: Resamples) -> Replicates:
    """Return the values of each statistic in all resamples, and the standard errors that its interval needs."""
    replicates: dict[str, tuple[Values, ...]] = {}
    for size in dict.fromkeys(statistic.resamples for statistic in statistics):
        kernels = {s.name: _kernels(s, resamples) for s in statistics if s.resamples == size}
        parts = [
            [[kernel(block) for kernel in pair] for pair in kernels.values()]
            for block in blocks(resamples.weights[:size])
        ]
        for name, *blocks_of_values in zip(kernels, *parts, strict=True):
            replicates[name] = tuple(map(np.concatenate, zip(*blocks_of_values, strict=True)))
    return replicates


def _kernels(statistic: Statistic, resamples: Resamples) -> list[Kernel]:
    error = None if statistic.interval is None else statistic.interval.error
    if error is None or statistic.bounds is not None or resamples.dependent:
        return [statistic.kernel]
    return [statistic.kernel, error]


class _Measuring:
    """One statistic, to be measured at a level; `left` is the share of the planned rows without an answer."""

    def __init__(self, statistic: Statistic, resamples: Resamples, level: float, left: float) -> None:
        self._statistic, self._resamples, self._level, self._left = statistic, resamples, level, left
        everything = np.ones(len(resamples), dtype=np.bool_)
        self._rows: Mask = everything if statistic.rows is None else statistic.rows
        # A metric may return -0.0, which would be shown as -0; the sum is 0.0.
        self._value = float(statistic.kernel(np.ones((1, len(resamples))))[0]) + 0.0 if statistic.n else math.nan

    def measure(self, replicates: tuple[Values, ...], questions: Sequence[int]) -> Measure:
        """Return the measure; `replicates`: the values in all resamples, and perhaps their standard errors."""
        statistic, value = self._statistic, self._value
        low = high = math.nan
        if not math.isnan(value) and statistic.interval is not None:
            low, high = self._interval(statistic.interval, replicates)
            # Both percentiles of a biased statistic may be above or below it; its interval must contain it.
            low, high = min(low, value) + 0.0, max(high, value) + 0.0
        # Nobody knows on how many rows the value of an own metric rests: that no resample differs shows nothing.
        constant = statistic.inputs is None and low == high
        if constant:
            low = high = math.nan
        return Measure(
            metric=statistic.name,
            value=value,
            low=low,
            high=high,
            n=count_questions(self._rows, questions) if questions else statistic.n,
            note=_CONSTANT if constant else self._note(),
            level=self._level,
            better=statistic.better,
            unit=statistic.unit,
        )

    def _interval(self, basis: IntervalBasis, replicates: tuple[Values, ...]) -> Interval:
        statistic, value, level, left = self._statistic, self._value, self._level, self._left
        if not replicates:
            return wilson(basis.successes or 0, statistic.n, level, left=left)
        n: float = min(statistic.n, self._independent)
        groups = statistic.comparison.groups
        # Rows that balance each other by chance are no more evidence than independent ones.
        # Neither are small groups without an error, which hide their spread from the resamples.
        rows = basis.rows if self._resamples.dependent or groups else math.inf
        if groups:
            share = evenness(row_weights(groups, self._rows))
            n, rows = n * share, rows * share
        if statistic.bounds is not None:
            return effective_wilson(value, replicates[0], n, bounds=statistic.bounds, level=level, left=left, rows=rows)
        if basis.terms is not None and len(replicates) > 1:
            low, high = self._of_terms(basis, basis.terms, *replicates)
        else:
            low, high = expanded_percentile_interval(replicates[0], n, level)
        shrunk = math.sqrt(left)
        return value - (value - low) * shrunk, value + (high - value) * shrunk

    @property
    def _independent(self) -> int:
        """Upper bound of the number of independent observations that contribute."""
        dependent = self._resamples.dependent
        return self._resamples.independent_among(self._rows) if dependent else self._statistic.n

    def _of_terms(self, basis: IntervalBasis, terms: Values, values: Values, errors: Values) -> Interval:
        """The interval of a mean, or of the square root of a mean, whose terms are then relative to a unit."""
        interval = partial(mean_interval, terms, errors=errors, unobserved=basis.unobserved, level=self._level)
        if not basis.root:
            low, high = interval(values)
            return max(low, basis.limits[0]), min(high, basis.limits[1])
        unit = self._value / math.sqrt(terms.mean()) if self._value else 1.0
        low, high = interval(np.square(values / unit))
        return unit * math.sqrt(max(low, 0.0)), unit * math.sqrt(high)

    def _note(self) -> str:
        """The statistic's own note, and the reason if the coverage of its interval may be below 93 %."""
        statistic = self._statistic
        if math.isnan(self._value):
            return "; ".join(filter(None, [statistic.note, "nothing to measure"]))
        doubt = "" if statistic.interval is None else self._doubt(statistic.interval)
        return "; ".join(filter(None, [statistic.note, f"{doubt}: the interval is approximate" if doubt else ""]))

    def _doubt(self, basis: IntervalBasis) -> str:
        statistic = self._statistic
        if statistic.n < basis.min_rows:
            return f"n under {basis.min_rows}"
        if dependence := self._doubt_of_units(basis):
            return dependence
        hits, n = basis.successes, statistic.n
        # A proportion near 0 or 1 of few samples: there the coverage of Wilson's interval varies.
        if hits is not None and n < MIN_PROPORTION_ROWS and min(hits, n - hits) < MIN_SIDE:
            return f"under {MIN_SIDE} on one side"
        minimum = MIN_RARER_OF_CORRELATIONS if statistic.bounds == CORRELATION else MIN_RARER
        if basis.rarer is not None and basis.rarer < minimum:
            if statistic.comparison.scored:
                return f"under {minimum} scores differ from the most frequent one"
            return f"under {minimum} answers are right, or under {minimum} wrong"
        return "" if basis.terms is None else self._doubt_of_terms(basis, basis.terms)

    def _doubt_of_units(self, basis: IntervalBasis) -> str:
        """The doubt about the number of independent rows, or about the smallest group of a mean over groups."""
        if self._resamples.dependent and self._independent < MIN_ROWS:
            return f"under {MIN_ROWS} independent units"
        if self._statistic.comparison.groups and math.isinf(basis.rows):
            groups = np.array(self._statistic.comparison.groups)[self._rows]
            smallest = int(np.unique(groups[groups >= 0], return_counts=True)[1].min(initial=len(groups)))
            return f"a group has under {MIN_GROUP} samples" if smallest < MIN_GROUP else ""
        return ""

    def _doubt_of_terms(self, basis: IntervalBasis, terms: Values) -> str:
        """The doubt about a mean: all terms are equal, or one term is most of their sum."""
        if np.all(terms == terms[0]):
            if self._statistic.comparison.scored and self._statistic.bounds is None:
                return "all scores are equal"
            return "" if terms[0] or not basis.unobserved else "no error was seen"
        above = terms - terms.min()
        largest = float(above.max() / above.sum())
        maximum = MAX_SHARE if math.isfinite(basis.limits[1]) else MAX_SHARE_WITHOUT_BOUND
        return f"one sample is {largest:.0%} of all that differs" if largest > maximum else ""
