"""Calibration of probabilities, over the predictions that have probabilities.

`outside_labels` is the probability of all replies that are no label.

Confidence is the probability of the most probable label; correct means that this label is the gold label. If labels tie
for the highest probability, the answer is taken.

A change of the prompt may make all probabilities flatter or sharper without making any answer worse. The exponent
`beta`, an inverse temperature, removes that effect: it is fitted to each set of answers before two sets are compared
(C. Guo et al., "On calibration of modern neural networks", ICML 2017).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from pytest_puma.core import CalibrationBin, Prediction
from pytest_puma.core.metric import Source
from pytest_puma.metrics.statistic import SHARE, Statistic, divide, masked, mean
from pytest_puma.metrics.table import PredictionTable
from pytest_puma.stats.arrays import Indices, Mask, Values, Weights

BINS = 10
MAX_BRIER = 2.0
#: With fewer predictions, bins are too small.
MIN_PREDICTIONS = 200
#: The candidate exponents. A fit at either end shows that the probabilities carry little information.
BETAS = np.geomspace(0.1, 4.0, 40)
#: Minimum logarithm: a probability of 0 would stay 0 under every exponent.
_MIN_LOG = -32.0
#: By metric, those that are counted from more than answers.
SOURCES: Mapping[str, Source] = {"outside_labels": "log-probabilities"}


def statistics(table: PredictionTable) -> Iterator[Statistic]:
    """The Brier score, then expected and maximum calibration error, which have no interval."""
    among, n = table.has_probabilities, int(table.has_probabilities.sum())
    kept = replace(table, probabilities=table.kept_probabilities)
    optional = partial(mean, better="low", optional=True)
    scores, of_kept = (brier(source.probabilities, table.gold) for source in (table, kept))
    limits, inputs = (0.0, MAX_BRIER), masked(of_kept, among)
    yield optional("brier", scores, among, limits=limits, unobserved=MAX_BRIER, inputs=inputs)
    calibration, inputs = _Calibration(table), _Calibration(kept).inputs
    note = f"n under {MIN_PREDICTIONS}: the value is rough" if n < MIN_PREDICTIONS else ""
    for name, kernel in (("ece", calibration.expected_error), ("mce", calibration.maximum_error)):
        yield Statistic(
            name=name, kernel=kernel, n=n, better="low", interval=None, optional=True, inputs=inputs, note=note
        )
    outside = np.array([outside_labels(prediction, table.labels) for prediction in table.predictions], dtype=np.float64)
    yield optional("outside_labels", outside, ~np.isnan(outside), limits=SHARE, source=SOURCES["outside_labels"])


def calibration_bins(table: PredictionTable) -> tuple[CalibrationBin, ...]:
    """Return the bins that have predictions, as the errors count them."""
    return _Calibration(table).bins()


def outside_labels(prediction: Prediction, labels: Sequence[str]) -> float:
    """Return the probability of all replies other than the labels, 0 to 1; NaN if the labels were not scored.

    NaN, too, for choices that were scored as texts without the end of the turn. Otherwise, each label was scored with
    the end of its turn, or is a letter: these beginnings of replies exclude each other.
    """
    if prediction.likelihoods or prediction.finish != "scored" or len(prediction.logprobs) != len(labels):
        return math.nan
    return max(0.0, 1.0 - math.fsum(map(math.exp, prediction.logprobs)))


class _Calibration:
    """Confidence against accuracy in bins of equal width; the upper end belongs to the bin.

    Source: C. Guo et al., "On calibration of modern neural networks", ICML 2017.
    """

    def __init__(self, table: PredictionTable) -> None:
        confidence = np.max(table.probabilities, axis=1, initial=0.0)
        correct = _right(table)
        bins = np.digitize(confidence, np.linspace(0, 1, BINS + 1)[1:-1], right=True)
        self.inputs = np.where(table.has_probabilities[:, None], np.column_stack([confidence, correct]), np.nan)
        self._members = 1.0 * ((bins[:, None] == np.arange(BINS)) & table.has_probabilities[:, None])
        self._excess = self._members * (confidence - correct)[:, None]
        self._squares = self._excess * (confidence - correct)[:, None]
        self._single = self._members * (confidence * (1 - confidence))[:, None]

    def expected_error(self, weights: Weights) -> Values:
        """Return the mean over predictions of the gap between confidence and accuracy in their bin, without its bias.

        In a bin of few predictions the gap is seldom 0 even if the confidence is right. The bias is the mean absolute
        value of a normal variable around the gap, minus the gap. The result is never below 0. Source: A. Kumar,
        P. Liang, T. Ma, "Verified uncertainty calibration", NeurIPS 2019, section 5, for absolute gaps as in the
        authors' library.
        """
        n, gaps = weights @ self._members, np.abs(weights @ self._excess)
        spread = (weights @ self._squares - gaps**2 / np.maximum(n, 1)) * n / np.maximum(n - 1, 1)
        # A single prediction has no spread: use that of a calibrated confidence.
        errors = np.sqrt(np.where(n > 1, np.maximum(spread, 0.0), weights @ self._single))
        chance = mean_absolute(gaps, errors) - gaps
        return np.maximum(divide((gaps - chance).sum(axis=1), n.sum(axis=1)), 0.0)

    def bins(self) -> tuple[CalibrationBin, ...]:
        """Return the bins that are not empty."""
        confidence, correct = (column @ self._members for column in np.nan_to_num(self.inputs).T)
        return tuple(
            CalibrationBin(
                low=index / BINS,
                high=(index + 1) / BINS,
                n=int(n),
                confidence=float(confidence[index] / n),
                accuracy=float(correct[index] / n),
            )
            for index, n in enumerate(self._members.sum(axis=0))
            if n
        )

    def maximum_error(self, weights: Weights) -> Values:
        """Return the greatest gap of any bin that is not empty."""
        gaps = divide(np.abs(weights @ self._excess), weights @ self._members)
        greatest: Values = np.fmax.reduce(gaps, axis=1)
        return greatest


def mean_absolute(means: Values, errors: Values) -> Values:
    """Return the mean absolute value of normal variables (the mean of the folded normal distribution)."""
    from scipy.special import ndtr

    random = errors > 0
    z = np.divide(means, errors, out=np.zeros_like(means), where=random)
    sizes = errors * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + means * (1 - 2 * ndtr(-z))
    return np.where(random, sizes, np.abs(means))


def _right(table: PredictionTable) -> Mask:
    """Whether the most probable label is the gold label, or the answer and right."""
    best = _most_probable(table)
    return np.asarray((best == table.gold) | (table.right & (best == table.answer)), dtype=np.bool_)


def _most_probable(table: PredictionTable) -> Indices:
    """The index of the most probable label; -1 in a regression without values to choose from."""
    if not table.labels:
        return np.full(len(table), -1)
    greatest = table.probabilities.max(axis=1, keepdims=True)
    answered = table.answer[:, None] == np.arange(len(table.labels))
    ties = table.probabilities == greatest
    best: Indices = np.argmax(np.where(answered, 2, 1) * ties, axis=1)
    return best


def brier(probabilities: Values, gold: Indices) -> Values:
    """Return the squared distance between probabilities and the gold label, summed over the last axis: 0 to 2.

    Source: G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly
    Weather Review 78 (1950).
    """
    truth = gold[:, None] == np.arange(probabilities.shape[-1])
    distances: Values = np.square(probabilities - truth).sum(axis=-1)
    return distances


class Refit(NamedTuple):
    """The Brier score of each sample under the best exponent."""

    beta: float
    losses: Values

    @property
    def at_edge(self) -> bool:
        """Whether the best exponent is at an end of the range."""
        return self.beta in {BETAS[0], BETAS[-1]}


def refit(probabilities: Values, gold: Indices) -> Refit:
    """Fit the exponent to rows of label probabilities (samples x labels) and the index of each row's gold label."""
    losses = tempered_losses(probabilities, gold)
    best = int(losses.sum(axis=1).argmin())
    return Refit(beta=float(BETAS[best]), losses=losses[best])


def tempered_losses(probabilities: Values, gold: Indices) -> Values:
    """Return the Brier score of each sample under each exponent: exponents x samples."""
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(probabilities), _MIN_LOG)
    powers = np.exp(BETAS[:, None, None] * (logs - logs.max(axis=1, keepdims=True)))
    return brier(powers / powers.sum(axis=2, keepdims=True), gold)


def skill(losses: Values, gold: Indices) -> float:
    """Return the Brier skill score: 1 without loss, 0 at the loss of a constant prediction of the label frequencies."""
    shares = np.bincount(gold) / max(len(gold), 1)
    prior = 1.0 - float(np.square(shares).sum())
    return 1.0 - float(losses.mean()) / prior if prior > 0 else 0.0
