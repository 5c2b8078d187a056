"""Power: the probability that a gate FAILs if the new system is truly worse, and the sample size for a power of 80 %.

Paired comparisons of two systems on the same samples; a share `changed` of the answers changes from right to wrong or
back. Source: R. G. Miettinen, "The matched pairs design in the case of all-or-none responses", Biometrics 24 (1968);
for numbers, the usual normal approximation (S. Julious, "Sample sizes for clinical trials", 2010).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_puma.core.measure import LEVEL
from pytest_puma.core.power import TARGET_POWER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[np.float64]

#: Beyond this, the sample size is infinite, and shown as "no number of samples".
MAX_SAMPLES = 100_000
#: Beyond this, the normal approximation differs by less than a point from the exact sum, and is much faster.
_EXACT_UP_TO = 2_000


def power_of_interval(*, loss: float, error: float, level: float = LEVEL) -> float:
    """Return the probability that a two-sided interval is entirely beyond a limit.

    `loss` is the distance of the true change beyond the limit, `error` the standard error of the change.
    """
    if error <= 0:
        return 1.0 if loss > 0 else 0.0
    return NormalDist().cdf(loss / error - _z(level))


def power_of_mcnemar(*, loss: float, changed: float, n: int, level: float = LEVEL, mid: bool = False) -> float:
    """Return the power of McNemar's one-sided test, exact or mid-p, at `(1 - level) / 2` for a loss of accuracy."""
    if n > _EXACT_UP_TO:
        error = math.sqrt(max(changed - loss**2, 0.0) / n)
        return power_of_interval(loss=loss, error=error, level=level)
    from scipy.stats import binom

    changed = max(changed, loss)
    counts = np.arange(n + 1)
    alpha = (1 - level) / 2
    critical = binom.isf(alpha, counts, 0.5) + 1
    if mid:
        below = critical - 1
        reached = binom.sf(below, counts, 0.5) + binom.pmf(below, counts, 0.5) / 2 <= alpha
        critical = np.where(reached & (counts > 0), below, critical)
    worse = (changed + loss) / (2 * changed) if changed else 0.0
    return float((binom.pmf(counts, n, changed) * binom.sf(critical - 1, counts, worse)).sum())


def samples_needed(power: Callable[[int], float], *, target: float = TARGET_POWER) -> float:
    """Return the smallest sample size with this power, to half a percent; infinite beyond `MAX_SAMPLES`."""
    low, high = 1, 2
    while power(high) < target:
        low, high = high, 2 * high
        if high > MAX_SAMPLES:
            return math.inf
    while high - low > max(1, low // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= target else (middle, high)
    return float(high)


def detectable(error: float, *, level: float = LEVEL, target: float = TARGET_POWER) -> float:
    """Return the true change that a two-sided interval separates from the limit with this probability."""
    return error * (_z(level) + NormalDist().inv_cdf(target))


def samples_to_decide(
    *, distance: float, reach: float, n: int, level: float = LEVEL, target: float = TARGET_POWER
) -> float:
    """Return the approximate sample size at which the interval excludes a limit at this distance.

    `reach` is half the width of the interval at `n` samples, `target` the probability if the observed value is the
    true one. Infinite if the distance is 0.
    """
    return n * (detectable(reach / _z(level), level=level, target=target) / distance) ** 2 if distance else math.inf


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
