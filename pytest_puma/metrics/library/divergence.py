"""How far a variant of a model is from the plain model, along the replies of the plain one: at least so far.

A prediction has a `Divergence` for each of the first 16 places of the reply, the one after the prompt included. A plain
model has none of these metrics: it is compared with nothing. The divergence is a lower bound (`stats.divergence`): for
replies and quantisations of a model with 49,000 tokens, 94 to 98 % of the exact one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean

import numpy as np

from pytest_puma.core import Metric, Pool, Prediction, Sample
from pytest_puma.metrics.statistic import divide

_distance = partial(Metric, needs=frozenset({"divergence"}), source="distributions")


def kl(_: Sample, prediction: Prediction) -> float:
    """Return the mean over the places of a reply, in nats."""
    return fmean(place.nats for place in prediction.divergence)


def kl_p99(predictions: Sequence[Prediction]) -> float:
    """Return the 99th percentile over all places of all replies."""
    places = [place.nats for prediction in predictions for place in prediction.divergence]
    return float(np.quantile(places, 0.99)) if places else float("nan")


def same_top(_: Sample, prediction: Prediction) -> tuple[float, float]:
    """Return the number of places where both have the same most probable token, and that of all places."""
    places = prediction.divergence
    return float(sum(place.same_top for place in places)), float(len(places))


METRICS = (
    _distance(name="kl", score=kl, better="low", unit="nats", bounds=None),
    _distance(name="kl.p99", score=kl_p99, better="low", unit="nats", bounds=None, per="cell"),
    _distance(name="same_top", score=same_top, pool=Pool(2, lambda sums: divide(*sums.T))),
)
NAMES = tuple(metric.name for metric in METRICS)


def is_distance(metric: str) -> bool:
    """Whether a metric, or a slice of it, is about the distance from the plain model, which only variants have."""
    return metric.partition("[")[0] in NAMES
