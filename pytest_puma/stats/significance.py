"""Differences between two systems on the same samples: paired tests, a correction for many tests, and effect sizes.

A difference is the new system's error minus the old one's: 0, 1 or -1 for right and wrong answers. A p-value of a
one-sided test is the probability of at least this much change for the worse if both systems are equally good.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from pytest_puma.stats.arrays import Values
from pytest_puma.stats.intervals import widening

FLIPS = 9999
#: Minimum share of resamples beyond a limit for a p-value that counts them.
TAIL = 1 / 200
_SIGNS_AT_ONCE = 4_000_000
_MIN_P = 1e-15  # a double distinguishes 1 - _MIN_P from 1
_ROUNDING = 1e-9  # two ways to compute the same sum differ by this relative error


def mcnemar(worse: int, better: int) -> float:
    """Return the exact two-sided p-value of McNemar's test that as many answers became wrong as became right.

    It is about accuracy, not about a macro-F1. Source: Q. McNemar, "Note on the sampling error of the
    difference between correlated proportions or percentages", Psychometrika 12 (1947), with the binomial law in place
    of its approximation.
    """
    from scipy.stats import binomtest

    return float(binomtest(worse, worse + better).pvalue) if worse + better else 1.0


def signed_rank(differences: Values) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test that differences are symmetric around 0.

    Differences of 0 are ranked, then dropped. Source: F. Wilcoxon, "Individual comparisons by ranking methods",
    Biometrics Bulletin 1 (1945); J. W. Pratt, "Remarks on zeros and ties in the Wilcoxon signed rank procedures",
    JASA 54 (1959).
    """
    from scipy.stats import wilcoxon

    return float(wilcoxon(differences, zero_method="pratt", method="approx").pvalue) if differences.any() else 1.0


def sign_flips(differences: Values, *, seed: int) -> float:
    """Return the two-sided p-value of the paired permutation test of a mean: each difference gets a random sign.

    Source: R. A. Fisher, "The design of experiments", 1935, chapter 3; the observed signs count among the flips
    (B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", 2010).
    """
    if not differences.any():
        return 1.0
    observed = abs(differences.sum())
    reached = sum(int((np.abs(sums) >= observed * (1 - _ROUNDING)).sum()) for sums in _flipped(differences, seed))
    return (reached + 1) / (FLIPS + 1)


def sign_flips_above(differences: Values, *, seed: int, mid: bool = False) -> float:
    """Return the one-sided p-value of the same test.

    `mid` excludes half of the probability of the observed sum, like `mcnemar_mid_p`.
    """
    if not differences.any():
        return 0.5 if mid else 1.0
    observed, reached = float(differences.sum()), 0.0
    sizes, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    tolerance = _ROUNDING * float(sizes @ counts)
    for sums in _flipped(differences, seed):
        reached += float((sums >= observed - tolerance).sum())
        reached -= float((np.abs(sums - observed) <= tolerance).sum()) / 2 if mid else 0.0
    return (reached + (0.5 if mid else 1.0)) / (FLIPS + 1)


def _flipped(differences: Values, seed: int) -> Iterator[Values]:
    """The sums of the differences with random signs, in blocks of flips."""
    sizes, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    random, block = np.random.default_rng(seed), max(1, _SIGNS_AT_ONCE // sizes.size)
    for start in range(0, FLIPS, block):
        # The number of differences of each size that are above 0.
        above = random.binomial(counts, 0.5, (min(block, FLIPS - start), sizes.size))
        yield (2.0 * above - counts) @ sizes


def change_p(value: float, values: Values, *, n: float, changed: float) -> float:
    """Return the two-sided p-value of `change_interval`: 1 minus the level at which the interval reaches 0.

    Counts of 2,000 resamples cannot distinguish 0.001 from 0.00001, which a correction for 50 tests needs: if hardly
    any resample is beyond 0, the tail is that of Student's t with the bootstrap's standard error. Source: B. Efron, R.
    Tibshirani, "An introduction to the bootstrap", 1993, chapter 12.
    """
    from scipy.special import stdtr

    defined = values[~np.isnan(values)]
    if not changed or not defined.size:
        return 1.0
    lowest = min_p_value(changed)
    edge = value * (1 - 1 / widening(n=n, changed=changed))
    beyond = min(int((defined <= edge).sum()), int((defined >= edge).sum()))
    countable, error = TAIL * defined.size, float(defined.std())
    counted = 2 * (max(beyond, countable if error else 0) + 1) / (defined.size + 1)
    if beyond >= countable or not error:
        return min(1.0, max(counted, lowest))
    wider = math.sqrt((changed + 2) / changed)
    return max(lowest, min(counted, 2 * float(stdtr(max(n - 1, 1), -abs(value) / (error * wider)))))


def min_p_value(changed: float) -> float:
    """Return the smallest two-sided p-value of a paired test with this many changed samples: all in one direction.

    If the two systems are equally good, each of these samples could have changed in the other direction.
    """
    return min(1.0, math.exp2(1 - changed))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for the number of tests: the probability of any false alarm stays at the level.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
    (1979).
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted, highest = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def rank_biserial(differences: Values) -> float:
    """Return the matched rank-biserial correlation: the share of the ranks of changes for worse minus that for better.

    From -1 (all better) to 1 (all worse); 0 if nothing changed. Source: D. S. Kerby, "The simple difference
    formula", Comprehensive Psychology 3 (2014).
    """
    from scipy.stats import rankdata

    changes = differences[differences != 0]
    if not changes.size:
        return 0.0
    ranks = rankdata(np.abs(changes))
    return float((ranks * np.sign(changes)).sum() / ranks.sum())


def cliffs_delta(new: Values, old: Values) -> float:
    """Return Cliff's delta: P(new error > old error) - P(new error < old error) over all pairs of samples; -1 to 1.

    Source: N. Cliff, "Dominance statistics: ordinal analyses to answer ordinal questions", Psychological Bulletin 114
    (1993).
    """
    ordered = np.sort(old)
    above = np.searchsorted(ordered, new, side="left").sum()
    below = (ordered.size - np.searchsorted(ordered, new, side="right")).sum()
    return float(above - below) / (new.size * old.size) if new.size and old.size else 0.0


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


def stouffer(one: float, other: float, *, correlation: float) -> float:
    """Return the combined p-value of two one-sided tests with this correlation of their normal scores.

    Source: S. A. Stouffer et al., "The American soldier", volume 1, 1949; for correlated tests M. J. Strube, "Combining
    and comparing significance levels from nonindependent hypothesis tests", Psychological Bulletin 97 (1985).
    """
    from scipy.special import ndtr, ndtri

    # P-values rounded to 0 and 1 have infinite scores, and no sum.
    first, second = (min(max(p, _MIN_P), 1 - _MIN_P) for p in (one, other))
    return float(ndtr((ndtri(first) + ndtri(second)) / math.sqrt(2 + 2 * correlation)))
