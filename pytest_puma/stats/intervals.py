"""Confidence intervals of a number, and of its change, from its values in bootstrap resamples.

The interval for each metric was chosen by simulation (`python -m tools.statistics.coverage`): with 50 samples and a
level of 0.95, percentiles of resamples have a coverage of only 0.68 to 0.93.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from pytest_puma.core import LEVEL
from pytest_puma.stats.arrays import Values

Interval: TypeAlias = tuple[float, float]

#: Relative size of a difference that is only a rounding error.
_ROUNDING = 1e-9


def wilson(successes: int, n: int, level: float = LEVEL, *, left: float = 1.0) -> Interval:
    """Return the Wilson score interval of a proportion; NaN for n = 0.

    `left` is the share of a finite population outside the `n` observations: the interval is for the whole population.
    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927). It keeps its coverage near 0 and 1, where the textbook interval collapses.
    """
    if not 0 <= successes <= n:
        msg = f"{successes} successes of {n}; expected 0 <= successes <= n"
        raise ValueError(msg)
    return _score(successes / n, n / left, _normal(level)) if n else (math.nan, math.nan)


def difference_interval(new: tuple[float, float, float], old: tuple[float, float, float]) -> Interval:
    """Return the interval of `new - old` from the value and the two ends of each, if their samples are independent.

    NaN if an interval is missing. Of answers to the same samples, the interval is too wide: compare them in pairs.
    Source: G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures: a general approach",
    Statistics in Medicine 27 (2008), the method of variance estimates recovery.
    """
    (now, now_low, now_high), (then, then_low, then_high) = new, old
    below, above = math.hypot(now - now_low, then_high - then), math.hypot(now_high - now, then - then_low)
    return now - then - below, now - then + above


def effective_wilson(
    value: float,
    values: Values,
    n: float,
    *,
    bounds: Interval = (0.0, 1.0),
    level: float = LEVEL,
    left: float = 1.0,
    rows: float = math.inf,
) -> Interval:
    """Return the Wilson interval of a bounded number that is not a proportion, such as a macro-F1 or a kappa.

    It uses the effective sample size: a proportion of that many observations has the variance of the number over the
    resamples. It is at most `rows`, and `n` if the number does not vary. `left` as in `wilson`. Source: E. L. Korn,
    B. I. Graubard, "Confidence intervals for proportions with small expected number of positive counts estimated from
    survey data", Survey Methodology 24 (1998), with the score interval that C. Franco et al. recommend, "Comparative
    study of confidence intervals for proportions in complex sample surveys", Journal of Survey Statistics and
    Methodology 7 (2019).
    """
    minimum, width = bounds[0], bounds[1] - bounds[0]
    share = min(max((value - minimum) / width, 0.0), 1.0)
    variance = float(np.nanvar(values)) / width**2 * n / max(n - 1, 1)
    effective = share * (1 - share) / variance if variance > _ROUNDING**2 else math.inf
    effective = min(max(effective, 1.0), rows)
    if not 0 < share < 1 or math.isinf(effective):
        effective = float(n)
    low, high = _score(share, effective / left, _student(n, level))
    return minimum + width * low, minimum + width * high


def mean_interval(
    observations: Values, values: Values, errors: Values, *, unobserved: float = 0.0, level: float = LEVEL
) -> Interval:
    """Return the bootstrap-t interval of a mean, from its value and standard error per resample, within `rare_bounds`.

    Unlike percentiles, it follows the skewness of the observations. A resample of identical observations has an
    infinite t if its mean differs: it is counted, and `rare_bounds` then limit the interval. Source: B. Efron, R.
    Tibshirani, "An introduction to the bootstrap", 1993, chapter 12; for its coverage: T. Hesterberg, "What teachers
    should know about the bootstrap", The American Statistician 69 (2015).
    """
    unit = float(np.abs(observations).max()) or 1.0  # a number of 200 digits has no square
    if unit != 1:
        scaled = mean_interval(
            observations / unit, values / unit, errors / unit, unobserved=unobserved / unit, level=level
        )
        return scaled[0] * unit, scaled[1] * unit
    n, value = len(observations), float(observations.mean())
    floor, ceiling = rare_bounds(observations, unobserved=unobserved, level=level)
    error = float(observations.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    if error <= _ROUNDING * abs(value):
        return floor, ceiling
    defined = ~np.isnan(values)
    away, errors = values[defined] - value, errors[defined]
    away[np.abs(away) <= _ROUNDING * error] = 0.0
    with np.errstate(divide="ignore"):
        t = np.divide(away, np.where(errors > _ROUNDING * error, errors, 0.0), out=np.zeros_like(away), where=away != 0)
    low, high = np.quantile(t, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return max(value - float(high) * error, floor), min(value - float(low) * error, ceiling)


def rare_bounds(observations: Values, *, unobserved: float = 0.0, level: float = LEVEL) -> Interval:
    """Return the minimum and maximum of a mean that rare observations allow.

    The number of observations above the smallest one is a Poisson count: the true number may be up to its exact upper
    limit, with each as large as the largest observation; the same holds below the largest one. If all observations are
    identical, `unobserved` is the distance of another one. Source of the limit: F. Garwood, "Fiducial limits for the
    Poisson distribution", Biometrika 28 (1936).
    """
    from scipy.special import gammaincinv

    smallest, largest, n = float(observations.min()), float(observations.max()), len(observations)
    step = (largest - smallest or unobserved) / n
    above, below = int((observations > smallest).sum()), int((observations < largest).sum())
    limits = gammaincinv(np.array([below, above]) + 1.0, (1 + level) / 2)
    return largest - float(limits[0]) * step, smallest + float(limits[1]) * step


def expanded_percentile_interval(values: Values, n: float, level: float = LEVEL) -> Interval:
    """Return percentiles, widened as a t interval of `n` observations is wider than a normal one without n - 1.

    Source: T. Hesterberg, as above.
    """
    reach = math.sqrt(n / max(n - 1, 1)) * _student(n, level)
    return percentile_interval(values, 2 * NormalDist().cdf(reach) - 1)


def percentile_interval(values: Values, level: float = LEVEL) -> Interval:
    """Return the central `level` of the values, without NaN (a resample that measures nothing); NaN if none is left."""
    defined = values[~np.isnan(values)]
    if defined.size == 0:
        return math.nan, math.nan
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def change_interval(value: float, values: Values, *, n: float, changed: float, level: float = LEVEL) -> Interval:
    """Return the interval of a difference between two systems on the same `n` samples; `changed` > 0 of them differ.

    Percentiles, widened around the value as if one more sample had changed in each direction, because a few changes
    are weak evidence of how many are possible. Source: D. G. Bonett, R. M. Price, "Adjusted Wald confidence interval
    for a difference of binomial proportions based on paired data", Journal of Educational and Behavioral Statistics 37
    (2012), which adds them to a difference of proportions; here they widen the interval of the resamples.
    """
    low, high = percentile_interval(values, level)
    factor = widening(n=n, changed=changed, level=level)
    return value + (low - value) * factor, value + (high - value) * factor


def widening(*, n: float, changed: float, level: float = LEVEL) -> float:
    """Return the factor by which `change_interval` widens percentiles."""
    return _student(n, level) / _normal(level) * math.sqrt((changed + 2) / changed)


def _score(share: float, n: float, z: float) -> Interval:
    """Wilson's formula, for any quantile and any real number of observations."""
    centre = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # Without rounding errors, the formula gives exactly 0 and 1 at the ends, and the interval contains the share.
    low, high = max((centre - reach) / scale, 0.0), min((centre + reach) / scale, 1.0)
    return (0.0 if share == 0 else min(low, share)), (1.0 if share == 1 else max(high, share))


def _normal(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _student(n: float, level: float) -> float:
    """The quantile of Student's t with `n - 1` degrees of freedom, at least one."""
    from scipy.special import stdtrit

    return float(stdtrit(max(n - 1, 1), (1 + level) / 2))


def mean_of_independent(rows: Values) -> tuple[float, float, float]:
    """Return the mean of independent estimates and its interval, from rows of value, lower and upper end.

    The distances of the ends from the values add up as standard errors do, each side by itself, so that the interval
    need not be symmetric. Source: G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures: a
    general approach", Statistics in Medicine 27 (2008).
    """
    values, low, high = rows.T
    mean, n = float(values.mean()), len(values)
    return mean, mean - float(np.linalg.norm(values - low)) / n, mean + float(np.linalg.norm(high - values)) / n
