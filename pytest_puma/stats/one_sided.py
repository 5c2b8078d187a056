"""One-sided paired tests for a new system that is worse than the old one on the same samples.

A p-value is the probability of at least this much change for the worse if both systems are equally good.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[np.float64]

FLIPS = 9999
_SIGNS_AT_ONCE = 4_000_000
_MIN_P = 1e-15  # a double distinguishes 1 - _MIN_P from 1
_ROUNDING = 1e-9  # two ways to compute the same sum differ by this relative error


def mcnemar_worse(worse: int, better: int) -> float:
    """Return the exact one-sided p-value of McNemar's test: P(X >= worse), X binomial, `worse + better` coin tosses.

    It never rejects more often than its level. Source: Q. McNemar, Psychometrika 12 (1947).
    """
    from scipy.stats import binom

    return float(binom.sf(worse - 1, worse + better, 0.5)) if worse + better else 1.0


def mcnemar_mid_p(worse: int, better: int) -> float:
    """Return the one-sided mid-p value of McNemar's test: half of the probability of the observed table is excluded.

    It is less conservative than the exact test, and keeps its level over all numbers of changed answers. Source: M. W.
    Fagerland, S. Lydersen, P. Laake, "The McNemar test for binary matched-pairs data: mid-p and asymptotic are better
    than exact conditional", BMC Medical Research Methodology 13:91 (2013).
    """
    from scipy.stats import binom

    n = worse + better
    return float(binom.sf(worse, n, 0.5) + binom.pmf(worse, n, 0.5) / 2)


def mean_above(differences: Values, limit: float, *, error: float | None = None, n: int | None = None) -> float:
    """Return the p-value of Student's one-sided t-test that the mean of the differences is above a limit.

    `error` is the standard error of the mean, and `n` the number of independent observations, if the rows are not
    independent. If all differences are identical, the error is zero and the mean alone decides.
    """
    from scipy.special import stdtr

    n = len(differences) if n is None else n
    if n < 2:  # noqa: PLR2004 - a single observation has no variance
        return 1.0
    above = float(differences.mean()) - limit
    error = float(differences.std(ddof=1)) / math.sqrt(n) if error is None else error
    if error <= 0:
        return 0.0 if above > 0 else 1.0
    return float(stdtr(n - 1, -above / error))


def sign_flips_above(differences: Values, *, seed: int, flips: int = FLIPS, mid: bool = False) -> float:
    """Return the one-sided p-value of the paired permutation test of a mean: each difference gets a random sign.

    `mid` excludes half of the probability of the observed sum, like `mcnemar_mid_p`.

    Source: R. A. Fisher, "The design of experiments", 1935, chapter 3; the observed signs count among the flips
    (B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", 2010).
    """
    sizes, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    if not sizes.size:
        return 0.5 if mid else 1.0
    random, reached, observed = np.random.default_rng(seed), 0.0, float(differences.sum())
    tolerance = _ROUNDING * float(sizes @ counts)
    block = max(1, _SIGNS_AT_ONCE // sizes.size)
    for start in range(0, flips, block):
        above = random.binomial(counts, 0.5, (min(block, flips - start), sizes.size))
        sums = (2.0 * above - counts) @ sizes
        reached += float((sums >= observed - tolerance).sum())
        reached -= float((np.abs(sums - observed) <= tolerance).sum()) / 2 if mid else 0.0
    return (reached + (0.5 if mid else 1.0)) / (flips + 1)


def stouffer(one: float, other: float, *, correlation: float) -> float:
    """Return the combined p-value of two one-sided tests with this correlation of their normal scores.

    Source: S. A. Stouffer et al., "The American soldier", volume 1, 1949; for correlated tests M. J. Strube, "Combining
    and comparing significance levels from nonindependent hypothesis tests", Psychological Bulletin 97 (1985).
    """
    from scipy.special import ndtr, ndtri

    # P-values rounded to 0 and 1 have infinite scores, and no sum.
    first, second = (min(max(each, _MIN_P), 1 - _MIN_P) for each in (one, other))
    return float(ndtr((ndtri(first) + ndtri(second)) / math.sqrt(2 + 2 * correlation)))
