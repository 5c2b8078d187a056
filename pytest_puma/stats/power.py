"""Power: the probability that a gate FAILs where the new system is truly worse, and the samples that 80 % of it take.

Paired comparisons of two systems on the same samples; a share `changed` of the answers turns from right to wrong or
back. Source: R. G. Miettinen, "The matched pairs design in the case of all-or-none responses", Biometrics 24 (1968);
for numbers, the normal approximation of any textbook (S. Julious, "Sample sizes for clinical trials", 2010).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_puma.core.measure import LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[np.float64]

#: The power that sample sizes and detectable differences are stated for.
WANTED = 0.8
#: More samples than these are told as "no number of samples".
MOST = 100_000
#: From here on the normal approximation is within a point of the exact sum, and takes no time.
_EXACT_UP_TO = 2_000


def power_of_interval(*, loss: float, error: float, level: float = LEVEL) -> float:
    """The probability that a two-sided interval lies wholly beyond the limit, which the truth misses by `loss`.

    `error` is the standard error of the change.
    """
    if error <= 0:
        return 1.0 if loss > 0 else 0.0
    return NormalDist().cdf(loss / error - _z(level))


def power_of_mcnemar(*, loss: float, changed: float, n: int, level: float = LEVEL, mid: bool = False) -> float:
    """The probability that McNemar's one-sided test, exact or mid-p, at `(1 - level) / 2` sees a loss of accuracy."""
    if n > _EXACT_UP_TO:
        error = math.sqrt(max(changed - loss**2, 0.0) / n)
        return power_of_interval(loss=loss, error=error, level=level)
    from scipy.stats import binom

    changed = max(changed, loss)
    turned = np.arange(n + 1)
    at = (1 - level) / 2
    least = binom.isf(at, turned, 0.5) + 1
    if mid:
        below = least - 1
        reached = binom.sf(below, turned, 0.5) + binom.pmf(below, turned, 0.5) / 2 <= at
        least = np.where(reached & (turned > 0), below, least)
    worse = (changed + loss) / (2 * changed) if changed else 0.0
    return float((binom.pmf(turned, n, changed) * binom.sf(least - 1, turned, worse)).sum())


def samples_needed(power: Callable[[int], float], *, wanted: float = WANTED) -> float:
    """The fewest samples that give this power, to half a percent; infinite where `MOST` do not."""
    low, high = 1, 2
    while power(high) < wanted:
        low, high = high, 2 * high
        if high > MOST:
            return math.inf
    while high - low > max(1, low // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= wanted else (middle, high)
    return float(high)


def detectable(error: float, *, level: float = LEVEL, wanted: float = WANTED) -> float:
    """The true change that a two-sided interval tells from the limit with this probability."""
    return error * (_z(level) + NormalDist().inv_cdf(wanted))


def samples_to_decide(*, distance: float, reach: float, n: int, level: float = LEVEL, wanted: float = WANTED) -> float:
    """About how many samples make the interval, which reaches so far at `n`, clear of a limit at this distance.

    With a probability of `wanted`, where the truth is what was observed. Infinite where the distance is 0.
    """
    return n * (detectable(reach / _z(level), level=level, wanted=wanted) / distance) ** 2 if distance else math.inf


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
