"""Position bias: how unequally the answers fall on the places at which choices are shown.

For K choices presented, with the share f(i) of the answers at place i, it is the mean of |f(i) - 1/K| over the places,
divided by its maximum 2 (K - 1) / K^2: 0 if all places are chosen equally often, 1 if always the same one is.
Questions with different K are counted apart; their values are averaged with the numbers of answers as weights. Parse
failures have no place, so they do not count.

A model without bias has about 1.0 / sqrt(n) with n answers and 5 choices, as the shares differ by chance. Resamples
double this part, so there is no interval: those of biases under 0.2 would miss them.
"""

from __future__ import annotations

import numpy as np

from pytest_puma.core import Metric, Pool, Prediction, Sample
from pytest_puma.metrics.statistic import divide
from pytest_puma.stats.arrays import Values

#: Vectors have one number for each place of each K, so more choices would make predictions large.
MAX_CHOICES = 10
#: For each K, where its places begin in the vector.
_STARTS = {k: (k * (k - 1)) // 2 - 1 for k in range(2, MAX_CHOICES + 1)}
_WIDTH = _STARTS[MAX_CHOICES] + MAX_CHOICES


def position(sample: Sample, prediction: Prediction) -> tuple[float, ...] | None:
    """Return 1 at the place of the answer among the places of as many choices; None for no or too many choices."""
    texts = [choice.text for choice in sample.choices]
    if prediction.answer not in texts or len(texts) not in _STARTS:
        return None
    place = texts.index(prediction.answer)
    shown = prediction.order.index(place) if prediction.order else place
    vector = [0.0] * _WIDTH
    vector[_STARTS[len(texts)] + shown] = 1.0
    return tuple(vector)


def _bias(sums: Values) -> Values:
    """The bias of counts of answers by place, resamples x places of all K; NaN without answers."""
    answers = sums.sum(axis=1)
    away = np.zeros(len(sums))
    for k, start in _STARTS.items():
        counts = sums[:, start : start + k]
        equal = counts.sum(axis=1, keepdims=True) / k
        away += np.abs(counts - equal).sum(axis=1) * k / (2 * (k - 1))
    return divide(away, answers)


METRICS = (
    Metric(
        name="position_bias",
        score=position,
        better="low",
        pool=Pool(_WIDTH, _bias),
        kinds=frozenset({"choice"}),
        interval=False,
    ),
)
