"""Power: the probability that a gate FAILs if the new system is truly worse, and the sample size for a power of 80 %.

Paired comparisons of two systems on the same samples. A share `changed` of the questions change, each by the same
size, for the worse or for the better; losses are in units of this size, so that those of right and wrong answers are
losses of accuracy. Source: R. G. Miettinen, "The matched pairs design in the case of all-or-none responses", Biometrics
24 (1968); for many changes, the usual normal approximation (S. Julious, "Sample sizes for clinical trials", 2010).

CUSUM is the cumulative sum of evidence that a series of runs became worse than its first run. Each run is compared with
the same anchor, so the normal scores of a series are correlated: a permanent harmless change appears in every later
run. Therefore only the part of a score above `REFERENCE` is summed, which a single permanent change exceeds by chance
in 5 of 100 series of any length. Source: E. S. Page, "Continuous inspection schemes", Biometrika 41 (1954); D. C.
Montgomery, "Introduction to statistical quality control", chapter 9. Reference and limit were chosen by simulation
(`tools/statistics/drift.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np

from pytest_puma.core.metric import LEVEL
from pytest_puma.core.power import TARGET_POWER
from pytest_puma.stats.arrays import Indices, Values
from pytest_puma.stats.intervals import widening

#: When a change is a loss: McNemar's one-sided test, as mid-p or exact, or an interval of the change beyond a limit.
Rule: TypeAlias = Literal["mid_p", "exact", "interval"]

#: Beyond this, the sample size is infinite, and shown as "no number of samples".
MAX_SAMPLES = 100_000
#: Beyond this, the normal approximation differs by at most two points from the exact sum, and is much faster.
_EXACT_UP_TO = 2_000
#: Numbers of changes further from their mean, in standard deviations, do not matter.
_TAIL = 8.0
#: Digits of a loss do not matter beyond this share of it.
_PRECISION = 1 / 1000

#: A normal score up to this is no evidence: the critical value of a one-sided test at 5 %.
REFERENCE = 1.645
#: A sum above this is a drift.
LIMIT = 1.4
#: Simulated series for the power.
_SERIES = 20_000
#: Maximum normal score: that of the smallest p-value that a double distinguishes from 0 and 1.
_MAX_SCORE = 8.0


@lru_cache(maxsize=4096)
def power_of_changes(
    n: float,
    *,
    loss: float,
    changed: float,
    allowed: float = 0.0,
    level: float = LEVEL,
    rules: tuple[Rule, ...] = ("interval",),
) -> float:
    """Return the probability that all `rules` find a loss beyond the `allowed` one, at `(1 - level) / 2`.

    `n` may lie between two whole numbers. `changed` above 1: all questions change, by a size that differs.
    """
    changed, whole = max(changed, abs(loss)), math.floor(n)
    if n > _EXACT_UP_TO or changed > 1:
        error = math.sqrt(max(changed - loss**2, 0.0) / n)
        return power_of_interval(loss=loss - allowed, error=error, level=level)
    if not changed:
        return 0.0
    below = _of_counts(whole, loss, changed, allowed, level, rules)
    if n == whole:
        return below
    return below + (n - whole) * (_of_counts(whole + 1, loss, changed, allowed, level, rules) - below)


def _of_counts(  # noqa: PLR0917
    n: int, loss: float, changed: float, allowed: float, level: float, rules: tuple[Rule, ...]
) -> float:
    """The sum over the numbers of changes, and over the numbers of these that are for the worse."""
    from scipy.special import bdtrc, gammaln, xlog1py, xlogy

    reach = _TAIL * math.sqrt(n * changed * (1 - changed)) + _TAIL
    counts = np.arange(max(0, math.floor(n * changed - reach)), min(n, math.ceil(n * changed + reach)) + 1)
    critical = np.max([_critical(rule, counts, n, allowed, level) for rule in rules], axis=0)
    log = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    weights = np.exp(log + xlogy(counts, changed) + xlog1py(n - counts, -changed))
    worse = (changed + loss) / (2 * changed)
    # All counts are from `critical` on if that is 0, and none if it is above their number.
    found = np.where(critical > counts, 0.0, bdtrc(np.clip(critical - 1, 0, counts), counts, worse))
    return float(weights @ np.where(critical <= 0, 1.0, found))


def _critical(rule: Rule, counts: Indices, n: int, allowed: float, level: float) -> Values:
    """The minimum number of changes for the worse that the rule finds among each of these numbers of changes."""
    if rule == "interval":
        return _beyond(counts, n, allowed, level)
    table = _table(rule, level, 2 ** math.ceil(math.log2(counts[-1] + 1)))
    return table[counts]


@lru_cache
def _table(rule: Rule, level: float, size: int) -> Values:
    """The critical numbers of McNemar's test among 0 to `size` changes, from the normal approximation step by step."""
    counts, alpha = np.arange(size + 1), (1 - level) / 2
    critical = np.floor(counts / 2 + _z(level) * np.sqrt(counts) / 2)
    while (high := _p_value(rule, critical, counts) > alpha).any():
        critical[high] += 1
    while (low := _p_value(rule, critical - 1, counts) <= alpha).any():
        critical[low] -= 1
    return critical


def _p_value(rule: Rule, worse: Values, counts: Indices) -> Values:
    """P(X >= worse), or half of P(X = worse) less; X: as many coin tosses."""
    from scipy.special import bdtrc

    above = np.where(worse > counts, 0.0, bdtrc(np.clip(worse, 0, counts), counts, 0.5))
    least = np.where(worse > counts, 0.0, bdtrc(np.clip(worse - 1, 0, counts), counts, 0.5))
    least = np.where(worse <= 0, 1.0, least)
    return (above + least) / 2 if rule == "mid_p" else least


def _beyond(counts: Indices, n: int, allowed: float, level: float) -> Values:
    """The same for the interval of a change, which contains 0 if so few changes cannot be significant."""
    some = np.maximum(counts, 1)
    # `widening` for many numbers of changes; the limit is reached where
    # (change - allowed)^2 = reach * (counts / n - change^2).
    factor = widening(n=n, changed=1, level=level) ** 2 / 3 * (some + 2) / some
    reach = _z(level) ** 2 / n * factor
    root = allowed**2 - (1 + reach) * (allowed**2 - reach * some / n)
    change = (allowed + np.sqrt(np.maximum(root, 0.0))) / (1 + reach)
    worse = np.floor((np.where(root < 0, allowed, change) * n + counts) / 2) + 1
    few = (2.0 ** (1 - some) > 1 - level) & (allowed >= 0)
    return np.where(counts == 0, float(allowed >= 0), np.where(few, counts + 1.0, worse))


def power_of_interval(*, loss: float, error: float, level: float = LEVEL) -> float:
    """Return the probability that a two-sided interval is entirely beyond a limit.

    `loss` is the distance of the true change beyond the limit, `error` the standard error of the change.
    """
    if error <= 0:
        return 1.0 if loss > 0 else 0.0
    return NormalDist().cdf(loss / error - _z(level))


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


def smallest_loss(
    power: Callable[[float], float], *, above: float, most: float, target: float = TARGET_POWER
) -> float | None:
    """Return the smallest loss from `above` to `most` with this power, to a thousandth; None if there is none."""
    low, high = above, most
    if power(high) < target:
        return None
    while high - low > _PRECISION * (high - above):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= target else (middle, high)
    return high


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


def cusum(total: float, p: float) -> float:
    """Return the sum after one more run, with the p-value `p` of its one-sided test against the anchor."""
    score = _MAX_SCORE if p <= 0 else -_MAX_SCORE if p >= 1 else -NormalDist().inv_cdf(p)
    return max(0.0, total + min(score, _MAX_SCORE) - REFERENCE)


@lru_cache
def cusum_power(effect: float, *, steps: int) -> float:
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
def cusum_effect(power: float, *, steps: int) -> float:
    """Return the effect that a series detects with this probability; the inverse of `cusum_power`."""
    low, high = 0.0, 16.0
    while high - low > 1 / 128:
        middle = (low + high) / 2
        low, high = (low, middle) if cusum_power(middle, steps=steps) >= power else (middle, high)
    return math.ceil(128 * high) / 128


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
