"""CUSUM: the cumulative sum of evidence that a series of runs became worse than its first run.

Each run is compared with the same anchor, so the normal scores of a series are correlated: a permanent harmless change
appears in every later run. Therefore only the part of a score above `REFERENCE` is summed, which a single permanent
change exceeds by chance in 5 of 100 series of any length. Source: E. S. Page, "Continuous inspection schemes",
Biometrika 41 (1954); D. C. Montgomery, "Introduction to statistical quality control", chapter 9. Reference and limit
were chosen by simulation (`tools/statistics/drift.py`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

#: A normal score up to this is no evidence: the critical value of a one-sided test at 5 %.
REFERENCE = 1.645
#: A sum above this is a drift.
LIMIT = 1.4
#: Simulated series for the power.
_SERIES = 20_000
#: Maximum normal score: that of the smallest p-value that a double distinguishes from 0 and 1.
_MAX_SCORE = 8.0


def cusum(total: float, p: float) -> float:
    """Return the sum after one more run, with the p-value `p` of its one-sided test against the anchor."""
    score = _MAX_SCORE if p <= 0 else -_MAX_SCORE if p >= 1 else -NormalDist().inv_cdf(p)
    return max(0.0, total + min(score, _MAX_SCORE) - REFERENCE)


@lru_cache
def power_of_cusum(effect: float, *, steps: int) -> float:
    """Return the probability that a series FAILs at one or more of its steps, with the same loss at each step.

    `effect` is the total loss of all steps over its standard error. The observed loss is a random walk with a drift;
    computed from seeded series, with an error of about half a percent.
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
    """Return the effect that a series detects with this probability; the inverse of `power_of_cusum`."""
    low, high = 0.0, 16.0
    while high - low > 1 / 128:
        middle = (low + high) / 2
        low, high = (low, middle) if power_of_cusum(middle, steps=steps) >= power else (middle, high)
    return math.ceil(128 * high) / 128
