"""The likelihood of the ground truth: bits per byte of its text, and perplexity per token, byte and word; its tokens.

The ground truth is the first right choice, or the first reference. `*.corpus` divide the sums over all predictions, as
lm-evaluation-harness does; the others are means of single texts. Generated text plays no part.

`bytes_per_token` is how much text a token of this model has. The texts are the same for every model, so it compares
their vocabularies: with fewer bytes, the same limit of tokens is less text, and the same text takes longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from pytest_puma.core import Likelihood, Metric, Pool, Prediction, Sample
from pytest_puma.metrics.library.choices import Length, scored_texts, size_in_bytes, tokens
from pytest_puma.metrics.statistic import divide

_Counts: TypeAlias = Callable[[Sample, Prediction], tuple[float, float] | None]
#: From nats per unit of length to the value, of a number or an array.
_Transform: TypeAlias = Callable[[Any], Any]

#: Nats per token. No model gives a token less than this; beyond it a mean of perplexities would overflow.
_MAX_NATS = 200.0


def gold_likelihood(sample: Sample, prediction: Prediction) -> tuple[str, Likelihood] | None:
    """Return the text of the ground truth beside its likelihood; None if there is none."""
    if sample.choices:
        texts = scored_texts(sample, prediction)
        index = next((index for index, choice in enumerate(sample.choices) if choice.right), None)
    else:
        texts, index = list(sample.references), 0 if sample.references else None
    return None if index is None else (texts[index], prediction.likelihoods[index])


def words(text: str, _: Likelihood) -> int:
    """Return the number of words between white space."""
    return len(text.split())


def _nats_and(length_of: Length) -> _Counts:
    """Return the function for the nats of the ground truth beside its length; None for no length."""

    def counts(sample: Sample, prediction: Prediction) -> tuple[float, float] | None:
        gold = gold_likelihood(sample, prediction)
        if gold is None:
            return None
        length = length_of(*gold)
        return (-gold[1].total, float(length)) if length else None

    return counts


def _mean(counts: _Counts, transform: _Transform) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function of one text: the transformed nats per unit of length."""

    def score(sample: Sample, prediction: Prediction) -> float | None:
        sums = counts(sample, prediction)
        return None if sums is None else float(transform(np.float64(sums[0] / sums[1])))

    return score


def _exponential(nats: Any) -> Any:
    return np.exp(np.minimum(_MAX_NATS, nats))


_LENGTHS: tuple[tuple[str, str, Length, _Transform], ...] = (
    ("bits_per_byte", "bits/byte", size_in_bytes, lambda nats: nats / math.log(2)),
    ("perplexity", "", tokens, _exponential),
    ("byte_perplexity", "", size_in_bytes, _exponential),
    ("word_perplexity", "", words, _exponential),
)


def _metrics(name: str, unit: str, length_of: Length, transform: _Transform) -> Iterator[Metric]:
    """Yield the mean over texts and the metric of the corpus."""
    counts, pool = _nats_and(length_of), Pool(2, lambda sums: transform(divide(*sums.T)))
    for suffix, score, pool_of_corpus in (("", _mean(counts, transform), None), (".corpus", counts, pool)):
        yield Metric(
            name=f"{name}{suffix}",
            score=score,
            better="low",
            unit=unit,
            bounds=None,
            pool=pool_of_corpus,
            needs=frozenset({"likelihoods"}),
            kinds=frozenset({"choice", "completion"}),
            source="tokens" if length_of is tokens else "answers",
        )


def size_and_tokens(sample: Sample, prediction: Prediction) -> tuple[float, float] | None:
    """Return the bytes of the ground truth, without the space before it, and its tokens; None if there is none."""
    gold = gold_likelihood(sample, prediction)
    return None if gold is None else (float(size_in_bytes(*gold)), float(tokens(*gold)))


METRICS = (
    *(metric for row in _LENGTHS for metric in _metrics(*row)),
    Metric(
        name="bytes_per_token",
        score=size_and_tokens,
        unit="bytes/token",
        bounds=None,
        pool=Pool(2, lambda sums: divide(*sums.T)),
        needs=frozenset({"likelihoods"}),
        kinds=frozenset({"choice", "completion"}),
        source="tokens",
    ),
)
