"""Paired evidence on many samples at once: the two tests of `no_regression`, and rules that combine them.

The same arithmetic as `pytest_puma.metrics.decline`, which takes one sample at a time. A sample is a row of weights:
how often it contains each row of the population.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr
from scipy.stats import binom

from pytest_puma.core import Prediction
from pytest_puma.metrics import ScoredPredictions
from pytest_puma.metrics.calibration import BETAS, tempered_losses
from pytest_puma.metrics.decline import CORRELATION, MIN_SKILL, TOLERANCE
from pytest_puma.scenarios import BUILTIN

Values: TypeAlias = NDArray[np.float64]
Rule: TypeAlias = Callable[["Evidence"], Values]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One run on all rows: which answers are right, and the Brier scores under each exponent."""

    right: NDArray[np.bool_]
    losses: Values  # exponents x rows

    @classmethod
    def of(cls, scenario: str, predictions: Sequence[Prediction]) -> Side:
        """Compute the side from the predictions of a run."""
        table = ScoredPredictions(BUILTIN[scenario](), predictions, seed=0).table
        return cls(right=table.answer == table.gold, losses=tempered_losses(table.probabilities, table.gold))

    def and_then(self, other: Side) -> Side:
        """Return the rows of both sides."""
        right, losses = (self.right, other.right), (self.losses, other.losses)
        return Side(right=np.concatenate(right), losses=np.concatenate(losses, axis=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A changed run and the unchanged one; `prior` is the Brier score of the label frequencies."""

    name: str
    kind: str
    old: Side
    new: Side
    prior: float

    @property
    def fall(self) -> float:
        """Loss of accuracy over all rows, in points."""
        return 100 * float(self.old.right.mean() - self.new.right.mean())

    def swapped(self) -> Pair:
        """Return each row twice, the second time with the answers exchanged, so that both systems are equally good."""
        return replace(self, old=self.old.and_then(self.new), new=self.new.and_then(self.old))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The p-values of both tests in each sample; that of the Brier score is NaN if the probabilities are not used."""

    answers: Values
    brier: Values


def evidence(pair: Pair, weights: Values, *, tolerance: float = TOLERANCE) -> Evidence:
    """Return both p-values of each sample; `weights` counts each row in each sample: samples x rows."""
    worse = weights @ (pair.old.right & ~pair.new.right)
    changed = worse + weights @ (pair.new.right & ~pair.old.right)
    tail = binom.sf(worse, changed, 0.5) + binom.pmf(worse, changed, 0.5) / 2
    (before, edge), (after, other) = (_refitted(each, weights) for each in (pair.old, pair.new))
    n, rise = weights.sum(axis=1), after - before
    mean = (weights * rise).sum(axis=1) / n
    variance = ((weights * rise**2).sum(axis=1) - n * mean**2) / (n - 1)
    error = np.sqrt(np.maximum(variance, 1e-18) / n)
    brier = stdtr(n - 1, -(mean - tolerance) / error)
    skill = 1 - (weights * before).sum(axis=1) / n / pair.prior
    return Evidence(answers=tail, brier=np.where(edge | other | (skill < MIN_SKILL), np.nan, brier))


def _refitted(side: Side, weights: Values) -> tuple[Values, NDArray[np.bool_]]:
    """The losses of all rows under the best exponent of each sample, and whether it is at an end of the range."""
    best = (weights @ side.losses.T).argmin(axis=1)
    return side.losses[best], (best == 0) | (best == len(BETAS) - 1)


def stouffer(tests: Evidence, correlation: float = CORRELATION) -> Values:
    """Return the combined p-value of the gate."""
    joined = ndtr((normal_score(tests.answers) + normal_score(tests.brier)) / np.sqrt(2 + 2 * correlation))
    return np.where(np.isnan(tests.brier), tests.answers, joined)


def holm(tests: Evidence) -> Values:
    """Return twice the smaller p-value."""
    return np.where(np.isnan(tests.brier), tests.answers, 2 * np.fmin(tests.answers, tests.brier))


def normal_score(p: Values) -> Values:
    """Return the normal quantile of a p-value."""
    scores: Values = ndtri(np.clip(p, 1e-15, 1 - 1e-15))
    return scores


RULES: Mapping[str, Rule] = {
    "McNemar mid-p": lambda tests: tests.answers,
    "refitted Brier": lambda tests: np.where(np.isnan(tests.brier), 1.0, tests.brier),
    "Holm over both": holm,
    "no_regression (Stouffer)": stouffer,
}
