"""How well a model predicts the ground truth: bits per byte of its text, and perplexity per token.

The ground truth is the first right choice, or the first reference. `*.corpus` divide the sums over all predictions;
the others are means of single texts. Generated text plays no part.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Likelihood, Metric, Pool, Prediction, Sample
from pytest_puma.metrics.library.likelihoods import size
from pytest_puma.metrics.statistic import divide

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Nats per token. No model gives a token less than this; beyond it a mean of perplexities would overflow.
_MAX_NATS = 200.0


def gold_likelihood(sample: Sample, prediction: Prediction) -> tuple[str, Likelihood] | None:
    """Return the text of the ground truth beside its likelihood; None if there is none."""
    if sample.choices:
        texts = [choice.text for choice in sample.choices]
        place = next((place for place, choice in enumerate(sample.choices) if choice.right), None)
    else:
        texts, place = list(sample.references), 0 if sample.references else None
    return None if place is None else (texts[place], prediction.likelihoods[place])


def bits_and_bytes(sample: Sample, prediction: Prediction) -> tuple[float, float] | None:
    """Return the bits of the ground truth and the bytes of its text in UTF-8; None for an empty text."""
    gold = gold_likelihood(sample, prediction)
    if gold is None or not gold[0]:
        return None
    text, likelihood = gold
    return -likelihood.total / math.log(2), float(size(text))


def bits_per_byte(sample: Sample, prediction: Prediction) -> float | None:
    """Return the bits of the ground truth divided by its bytes."""
    counts = bits_and_bytes(sample, prediction)
    return None if counts is None else counts[0] / counts[1]


def nats_and_tokens(sample: Sample, prediction: Prediction) -> tuple[float, float] | None:
    """Return the nats and the tokens of the ground truth; None without tokens."""
    gold = gold_likelihood(sample, prediction)
    return None if gold is None or not gold[1].tokens else (-gold[1].total, float(gold[1].tokens))


def perplexity(sample: Sample, prediction: Prediction) -> float | None:
    """Return the exponential of the nats per token of the ground truth."""
    counts = nats_and_tokens(sample, prediction)
    return None if counts is None else math.exp(min(_MAX_NATS, counts[0] / counts[1]))


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return divide(sums[:, 0], sums[:, 1])


def _exponential(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.exp(np.minimum(_MAX_NATS, _ratio(sums))), dtype=np.float64)


METRICS = tuple(
    Metric(
        name=name,
        score=score,
        better="low",
        unit=unit,
        bounds=None,
        pool=pool,
        needs=frozenset({"likelihoods"}),
        kinds=frozenset({"choice", "completion"}),
    )
    for name, score, unit, pool in (
        ("bits_per_byte", bits_per_byte, "bits/byte", None),
        ("bits_per_byte.corpus", bits_and_bytes, "bits/byte", Pool(2, _ratio)),
        ("perplexity", perplexity, "", None),
        ("perplexity.corpus", nats_and_tokens, "", Pool(2, _exponential)),
    )
)
