"""Confidence intervals of a number, and of the change of one, from its values in bootstrap resamples.

Which of them suits a metric was found by simulation (`python -m tools.statistics.coverage`): percentiles of resamples
cover 0.68 to 0.93 of the truths where 50 samples are asked for 0.95.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_puma.core import LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[np.float64]

Interval: TypeAlias = tuple[float, float]

#: Relative to the numbers that it is the difference of, what rounding leaves.
_NOTHING = 1e-9


def wilson(successes: int, n: int, level: float = LEVEL, *, left: float = 1.0) -> Interval:
    """The Wilson score interval of a proportion; NaN for n = 0.

    `left` is the share of all there is that the `n` are not: then the interval is for the proportion of all there is.
    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927). It keeps its coverage near 0 and 1, where the textbook interval collapses.
    """
    if not 0 <= successes <= n:
        msg = f"{successes} successes of {n}; expected 0 <= successes <= n"
        raise ValueError(msg)
    return _score(successes / n, n / left, _normal(level)) if n else (math.nan, math.nan)


def effective_wilson(
    value: float,
    values: Values,
    n: int,
    *,
    bounds: Interval = (0.0, 1.0),
    level: float = LEVEL,
    left: float = 1.0,
) -> Interval:
    """The Wilson interval of a number between two bounds that is no proportion, such as a macro-F1 or a kappa.

    It is that of a proportion of so many observations as have the spread that the number has over the resamples, and
    of `n` where it has none; `left` as in `wilson`. Source: E. L. Korn, B. I. Graubard, "Confidence intervals for
    proportions with small expected number of positive counts estimated from survey data", Survey Methodology 24 (1998),
    with the score interval that C. Franco et al. find better, "Comparative study of confidence intervals for
    proportions in complex sample surveys", Journal of Survey Statistics and Methodology 7 (2019).
    """
    least, width = bounds[0], bounds[1] - bounds[0]
    share = min(max((value - least) / width, 0.0), 1.0)
    variance = float(np.nanvar(values)) / width**2 * n / max(n - 1, 1)
    effective = max(share * (1 - share) / variance, 1.0) if variance and 0 < share < 1 else float(n)
    low, high = _score(share, effective / left, _student(n, level))
    return least + width * low, least + width * high


def mean_interval(
    observations: Values, values: Values, errors: Values, *, unseen: float = 0.0, level: float = LEVEL
) -> Interval:
    """The bootstrap-t interval of a mean, from its value and standard error in each resample, within `rare_bounds`.

    It follows the skewness of the observations, which percentiles do not. A resample whose observations are all alike
    has an infinite t where its mean is another one: it is counted, and the bounds are what is left to say. Source: B.
    Efron, R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 12; for its coverage: T. Hesterberg, "What
    teachers should know about the bootstrap", The American Statistician 69 (2015).
    """
    unit = float(np.abs(observations).max()) or 1.0  # a number of 200 digits has no square
    if unit != 1:
        scaled = mean_interval(observations / unit, values / unit, errors / unit, unseen=unseen / unit, level=level)
        return scaled[0] * unit, scaled[1] * unit
    n, value = len(observations), float(observations.mean())
    floor, ceiling = rare_bounds(observations, unseen=unseen, level=level)
    error = float(observations.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    if error <= _NOTHING * abs(value):
        return floor, ceiling
    known = ~np.isnan(values)
    away, errors = values[known] - value, errors[known]
    away[np.abs(away) <= _NOTHING * error] = 0.0
    with np.errstate(divide="ignore"):
        t = np.divide(away, np.where(errors > _NOTHING * error, errors, 0.0), out=np.zeros_like(away), where=away != 0)
    low, high = np.quantile(t, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return max(value - float(high) * error, floor), min(value - float(low) * error, ceiling)


def rare_bounds(observations: Values, *, unseen: float = 0.0, level: float = LEVEL) -> Interval:
    """What a mean can be at least and at most, as far as rare observations tell.

    The observations above the least one are counts of a Poisson variable: there may be as many as its exact upper limit
    allows, each as great as the greatest seen; and the same below the greatest one. Where all are alike, none was seen
    that is not, and `unseen` says how far off one would be. Source of the limit: F. Garwood, "Fiducial limits for the
    Poisson distribution", Biometrika 28 (1936).
    """
    from scipy.special import gammaincinv

    least, greatest, n = float(observations.min()), float(observations.max()), len(observations)
    step = (greatest - least or unseen) / n
    above, below = int((observations > least).sum()), int((observations < greatest).sum())
    most = gammaincinv(np.array([below, above]) + 1.0, (1 + level) / 2)
    return greatest - float(most[0]) * step, least + float(most[1]) * step


def expanded_percentile_interval(values: Values, n: int, level: float = LEVEL) -> Interval:
    """Percentiles as much farther out as a t interval of `n` observations is wider than a normal one without n - 1.

    Source: T. Hesterberg, as above.
    """
    reach = math.sqrt(n / max(n - 1, 1)) * _student(n, level)
    return percentile_interval(values, 2 * NormalDist().cdf(reach) - 1)


def percentile_interval(values: Values, level: float = LEVEL) -> Interval:
    """The central `level` of the values. NaN (a resample with nothing to measure) is left out; NaN if none is left."""
    known = values[~np.isnan(values)]
    if known.size == 0:
        return math.nan, math.nan
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def change_interval(value: float, values: Values, *, n: int, turned: int, level: float = LEVEL) -> Interval:
    """The interval of a difference between two systems on the same `n` samples, of which they differ in `turned` > 0.

    Percentiles, drawn out from the value as if one more sample had turned each way: so few turns tell little of how
    many there could be. Source: D. G. Bonett, R. M. Price, "Adjusted Wald confidence interval for a difference of
    binomial proportions based on paired data", Journal of Educational and Behavioral Statistics 37 (2012), which adds
    them to a difference of proportions; here they widen whatever interval the resamples give.
    """
    low, high = percentile_interval(values, level)
    wider = drawn_out(n=n, turned=turned, level=level)
    return value + (low - value) * wider, value + (high - value) * wider


def drawn_out(*, n: int, turned: int, level: float = LEVEL) -> float:
    """By what factor `change_interval` draws percentiles out."""
    return _student(n, level) / _normal(level) * math.sqrt((turned + 2) / turned)


def _score(share: float, n: float, z: float) -> Interval:
    """Wilson's formula, for any quantile and a number of observations that need not be whole."""
    centre = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At the ends the formula gives 0 and 1 but for rounding, and everywhere it holds the share but for that.
    low, high = max((centre - reach) / scale, 0.0), min((centre + reach) / scale, 1.0)
    return (0.0 if share == 0 else min(low, share)), (1.0 if share == 1 else max(high, share))


def _normal(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _student(n: int, level: float) -> float:
    """The quantile of Student's t with `n - 1` degrees of freedom, at least one."""
    from scipy.special import stdtrit

    return float(stdtrit(max(n - 1, 1), (1 + level) / 2))
