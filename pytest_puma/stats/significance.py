"""Whether two systems that answered the same samples differ: paired tests, their correction, and sizes of an effect.

A difference is what the new system's error is above the old one's: 0, 1 or -1 where answers are right or wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_puma.stats.intervals import drawn_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[np.float64]

FLIPS = 9999
#: The share of resamples of which fewer beyond a limit are too few to count.
TAIL = 1 / 200
_SIGNS_AT_ONCE = 4_000_000


def mcnemar(worse: int, better: int) -> float:
    """The exact two-sided p-value of McNemar's test: as many answers turned wrong as turned right.

    It is about accuracy, and says nothing of a macro-F1. Source: Q. McNemar, "Note on the sampling error of the
    difference between correlated proportions or percentages", Psychometrika 12 (1947), with the binomial law in place
    of its approximation.
    """
    from scipy.stats import binomtest

    return float(binomtest(worse, worse + better).pvalue) if worse + better else 1.0


def signed_rank(differences: Values) -> float:
    """The two-sided p-value of Wilcoxon's signed-rank test: differences lie evenly around 0.

    Differences of 0 are ranked, then dropped. Source: F. Wilcoxon, "Individual comparisons by ranking methods",
    Biometrics Bulletin 1 (1945); J. W. Pratt, "Remarks on zeros and ties in the Wilcoxon signed rank procedures",
    JASA 54 (1959).
    """
    from scipy.stats import wilcoxon

    return float(wilcoxon(differences, zero_method="pratt", method="approx").pvalue) if differences.any() else 1.0


def sign_flips(differences: Values, *, seed: int, flips: int = FLIPS) -> float:
    """The two-sided p-value of the paired permutation test of a mean: each difference could have had the other sign.

    Source: R. A. Fisher, "The design of experiments", 1935, chapter 3; the observed signs count among the flips
    (B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", 2010).
    """
    sizes, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    if not sizes.size:
        return 1.0
    random, found, observed = np.random.default_rng(seed), 0, abs(differences.sum())
    block = max(1, _SIGNS_AT_ONCE // sizes.size)
    for start in range(0, flips, block):
        # How many of the differences of one size are above 0.
        above = random.binomial(counts, 0.5, (min(block, flips - start), sizes.size))
        sums = np.abs((2.0 * above - counts) @ sizes)
        # Two ways to the same sum differ by rounding.
        found += int((sums >= observed * (1 - 1e-9)).sum())
    return (found + 1) / (flips + 1)


def change_p(value: float, values: Values, *, n: int, turned: int) -> float:
    """The two-sided p-value that belongs to `change_interval`: 1 less the level at which the interval reaches 0.

    Counting 2,000 resamples cannot tell 0.001 from 0.00001, which a correction for 50 tests needs: where hardly any
    lies beyond 0, the tail is that of Student's t with the bootstrap's standard error. Source: B. Efron, R. Tibshirani,
    "An introduction to the bootstrap", 1993, chapter 12.
    """
    from scipy.special import stdtr

    known = values[~np.isnan(values)]
    if not turned or not known.size:
        return 1.0
    lowest = least_p(turned)
    edge = value * (1 - 1 / drawn_out(n=n, turned=turned))
    beyond = min(int((known <= edge).sum()), int((known >= edge).sum()))
    countable, error = TAIL * known.size, float(known.std())
    counted = 2 * (max(beyond, countable if error else 0) + 1) / (known.size + 1)
    if beyond >= countable or not error:
        return min(1.0, max(counted, lowest))
    wider = math.sqrt((turned + 2) / turned)
    return max(lowest, min(counted, 2 * float(stdtr(max(n - 1, 1), -abs(value) / (error * wider)))))


def least_p(changed: int) -> float:
    """The least two-sided p-value of a paired test where so many samples changed: all of them in one direction.

    Of two systems that are alike, each of these samples could have changed the other way.
    """
    return min(1.0, 2.0 ** (1 - changed))


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p-value as it counts among all of them, so that one false alarm in all is as rare as it should be in one.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
    (1979).
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted, highest = [1.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def rank_biserial(differences: Values) -> float:
    """The matched rank-biserial correlation: of the ranks of all changes, the share for worse less that for better.

    From -1, all better, to 1, all worse; 0 where nothing changed. Source: D. S. Kerby, "The simple difference
    formula", Comprehensive Psychology 3 (2014).
    """
    from scipy.stats import rankdata

    turned = differences[differences != 0]
    if not turned.size:
        return 0.0
    ranks = rankdata(np.abs(turned))
    return float((ranks * np.sign(turned)).sum() / ranks.sum())


def cliffs_delta(new: Values, old: Values) -> float:
    """How much likelier a new error is above an old one, of whatever samples, than below it: -1 to 1.

    Source: N. Cliff, "Dominance statistics: ordinal analyses to answer ordinal questions", Psychological Bulletin 114
    (1993).
    """
    ordered = np.sort(old)
    above = np.searchsorted(ordered, new, side="left").sum()
    below = (ordered.size - np.searchsorted(ordered, new, side="right")).sum()
    return float(above - below) / (new.size * old.size) if new.size and old.size else 0.0
