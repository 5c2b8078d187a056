"""Whether a probability means what it says, over the predictions that carry probabilities.

`outside_labels` is what such probabilities are shares of: the part of all replies that are no label at all.

Confidence is the probability of the most probable label; correct means that this label is the gold. Of labels that tie
for the top, it is the one that was answered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Prediction
from pytest_puma.metrics.statistic import Statistic, divide, given, mean
from pytest_puma.metrics.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_puma.metrics.statistic import Values, Weights

BINS = 10


def statistics(table: Table) -> Iterator[Statistic]:
    """The Brier score, and expected and maximum calibration error."""
    among, n = table.has_probabilities, int(table.has_probabilities.sum())
    kept = replace(table, probabilities=table.kept_probabilities)
    yield replace(mean("brier", _brier(table), among, optional=True), inputs=given(_brier(kept), among))
    calibration, inputs = _Calibration(table), _Calibration(kept).inputs
    yield Statistic(name="ece", kernel=calibration.expected_error, n=n, optional=True, inputs=inputs)
    yield Statistic(name="mce", kernel=calibration.maximum_error, n=n, optional=True, inputs=inputs)
    outside = np.array([outside_labels(each, table.labels) for each in table.predictions], dtype=np.float64)
    yield mean("outside_labels", outside, ~np.isnan(outside), optional=True)


def outside_labels(prediction: Prediction, labels: Sequence[str]) -> float:
    """The probability of all replies but the labels, 0 to 1; NaN where the labels were not scored.

    Each label was scored with the end of its turn, so that no two of these replies include each other.
    """
    if prediction.finish != "scored" or len(prediction.logprobs) != len(labels):
        return math.nan
    return max(0.0, 1.0 - math.fsum(map(math.exp, prediction.logprobs)))


class _Calibration:
    """Confidence against accuracy in equal-width bins, each with its upper end.

    Source: C. Guo et al., "On calibration of modern neural networks", ICML 2017.
    """

    def __init__(self, table: Table) -> None:
        confidence = np.max(table.probabilities, axis=1, initial=0.0)
        correct = _most_probable(table) == table.gold
        bins = np.digitize(confidence, np.linspace(0, 1, BINS + 1)[1:-1], right=True)
        self.inputs = np.where(table.has_probabilities[:, None], np.column_stack([confidence, correct]), np.nan)
        self._members = 1.0 * ((bins[:, None] == np.arange(BINS)) & table.has_probabilities[:, None])
        self._excess = self._members * (confidence - correct)[:, None]

    def expected_error(self, weights: Weights) -> Values:
        """The mean over predictions of their bin's gap between confidence and accuracy."""
        return divide(np.abs(weights @ self._excess).sum(axis=1), (weights @ self._members).sum(axis=1))

    def maximum_error(self, weights: Weights) -> Values:
        """The greatest gap of any bin that is not empty."""
        gaps = divide(np.abs(weights @ self._excess), weights @ self._members)
        greatest: Values = np.fmax.reduce(gaps, axis=1)
        return greatest


def _most_probable(table: Table) -> NDArray[np.intp]:
    """The index of the label, -1 in a regression that names no values to choose from."""
    if not table.labels:
        return np.full(len(table), -1)
    greatest = table.probabilities.max(axis=1, keepdims=True)
    answered = table.answer[:, None] == np.arange(len(table.labels))
    ties = table.probabilities == greatest
    return np.argmax(np.where(answered, 2, 1) * ties, axis=1)


def _brier(table: Table) -> NDArray[np.float64]:
    """The squared distance between the probabilities and the truth, summed over labels: 0 to 2.

    Source: G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly
    Weather Review 78 (1950).
    """
    truth = table.gold[:, None] == np.arange(len(table.labels))
    distances: NDArray[np.float64] = np.sum(np.square(table.probabilities - truth), axis=1)
    return distances
