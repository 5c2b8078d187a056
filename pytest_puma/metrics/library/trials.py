"""Agreement of the trials of a question, and position bias: whether the place of a choice decides.

Trials show the choices in another order, or have another seed.

Position bias: how unequally the answers fall on the places at which choices are shown. For K choices presented, with
the share f(i) of the answers at place i, it is the mean of |f(i) - 1/K| over the places, divided by its maximum
2 (K - 1) / K^2: 0 if all places are chosen equally often, 1 if always the same one is. Questions with different K are
counted apart; their values are averaged with the numbers of answers as weights. Parse failures have no place, so they
do not count.

A model without bias has about 1.0 / sqrt(n) with n answers and 5 choices, as the shares differ by chance. Resamples
double this part, so there is no interval: those of biases under 0.2 would miss them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb

import numpy as np

from pytest_puma.core import Metric, Pool, Prediction, Sample
from pytest_puma.metrics.statistic import divide
from pytest_puma.stats.arrays import Values

#: Vectors have one number for each place of each K, so more choices would make predictions large.
MAX_CHOICES = 10
#: For each K, where its places begin in the vector.
_STARTS = {k: (k * (k - 1)) // 2 - 1 for k in range(2, MAX_CHOICES + 1)}
_WIDTH = _STARTS[MAX_CHOICES] + MAX_CHOICES


def majority_accuracy(_: Sample, trials: Sequence[Prediction]) -> float:
    """Return 1 if more than half of the trials are right, else 0; a parse failure is a wrong trial."""
    return float(2 * sum(trial.answer in trial.golds for trial in trials) > len(trials))


def consistency(_: Sample, trials: Sequence[Prediction]) -> float | None:
    """Return the share of pairs of trials with the same answer; a parse failure equals nothing. None for one trial.

    Source: the observed agreement of a subject in J. Fleiss, "Measuring nominal scale agreement among many raters",
    Psychological Bulletin 76 (1971).
    """
    pairs = comb(len(trials), 2)
    answers = Counter(trial.answer for trial in trials if trial.answer is not None)
    return sum(comb(count, 2) for count in answers.values()) / pairs if pairs else None


def position(sample: Sample, prediction: Prediction) -> tuple[float, ...] | None:
    """Return 1 at the place of the answer among the places of as many choices; None for no or too many choices."""
    texts = [choice.text for choice in sample.choices]
    if prediction.answer not in texts or len(texts) not in _STARTS:
        return None
    index = texts.index(prediction.answer)
    shown = prediction.order.index(index) if prediction.order else index
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


def retried(sample: Sample, prediction: Prediction) -> float:  # noqa: ARG001 - of any sample
    """Return 1 if the trial was asked more than once."""
    return float(prediction.tries > 1)


#: The metric of every cell with retries.
RETRY_RATE = "retry_rate"
METRICS = (
    Metric(name=RETRY_RATE, score=retried, better="low"),
    *(
        Metric(name=score.__name__, score=score, per="sample", kinds=frozenset({"choice", "classification"}))
        for score in (majority_accuracy, consistency)
    ),
    Metric(
        name="position_bias",
        score=position,
        better="low",
        pool=Pool(_WIDTH, _bias),
        kinds=frozenset({"choice"}),
        interval=False,
    ),
)
