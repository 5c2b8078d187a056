"""The cumulative sum of evidence that a series of runs became worse than the one that it started from.

Each run is compared with the same anchor, so that the normal scores of a series are alike: a harmless change that stays
is seen again in every later run. Therefore only the part of a score above `REFERENCE` is added up, which one change
that stays exceeds by chance in 5 of 100 series, however long they are. Source: E. S. Page, "Continuous inspection
schemes", Biometrika 41 (1954); D. C. Montgomery, "Introduction to statistical quality control", chapter 9. Reference
and limit were chosen by simulation (`tools/statistics/drift.py`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

#: The normal score that is no evidence yet: that of a one-sided test at 5 %.
REFERENCE = 1.645
#: A sum above this is a drift.
LIMIT = 1.4
#: Series that power is computed from.
_SERIES = 20_000
#: No normal score is greater: that of the least p-value that a double tells from 0 and 1.
_GREATEST = 8.0


def cusum(total: float, p: float) -> float:
    """The sum after one more run, whose one-sided test against the anchor gave this p-value."""
    score = _GREATEST if p <= 0 else -_GREATEST if p >= 1 else -NormalDist().inv_cdf(p)
    return max(0.0, total + min(score, _GREATEST) - REFERENCE)


@lru_cache
def power_of_cusum(effect: float, *, steps: int) -> float:
    """The probability that a series FAILs at one of its steps at least, where each costs as much as the others.

    `effect` is the loss of all steps together over its standard error. The loss that is seen is a random walk with a
    drift; computed from seeded series, to about half a percent.
    """
    walks = np.random.default_rng(0).normal(size=(_SERIES, steps)).cumsum(axis=1)
    past = np.arange(1, steps + 1)
    scores = effect * np.sqrt(past / steps) + walks / np.sqrt(past)
    totals, failed = np.zeros(_SERIES), np.zeros(_SERIES, dtype=np.bool_)
    for step in range(steps):
        totals = np.maximum(0.0, totals + scores[:, step] - REFERENCE)
        failed |= totals > LIMIT
    return float(failed.mean())


@lru_cache
def effect_of_cusum(power: float, *, steps: int) -> float:
    """The effect that a series catches with this probability; the inverse of `power_of_cusum`."""
    low, high = 0.0, 16.0
    while high - low > 1 / 128:
        middle = (low + high) / 2
        low, high = (low, middle) if power_of_cusum(middle, steps=steps) >= power else (middle, high)
    return math.ceil(128 * high) / 128
