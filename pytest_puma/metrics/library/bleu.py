"""BLEU (Papineni 2002), as sacrebleu computes it: 13a tokens, n-grams of 1 to 4 words, exponential smoothing.

`bleu` is the BLEU of all replies of a cell as one corpus, not a mean. Each reply adds ten numbers: its length and that
of the closest reference, its matches and its n-grams by order. Orders without any n-gram do not count (sacrebleu's
`effective_order`): otherwise an exact match of three words would have 0.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_puma.core import Metric, Pool, Prediction, Sample
from pytest_puma.metrics.library.arguments import argument
from pytest_puma.metrics.library.lines import by_line
from pytest_puma.metrics.library.references import best
from pytest_puma.stats.arrays import Values

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU, BLEUScore

_ORDERS = 4
POINTS = 100.0


def sums(sample: Sample, prediction: Prediction) -> tuple[float, ...] | None:
    """Return the ten numbers of a reply."""
    if not sample.references:
        return None
    score = _score(prediction.text, sample.references)
    return (score.sys_len, score.ref_len, *score.counts, *score.totals)


def corpus_bleu(sums: Values) -> Values:
    """Return the BLEU of each row of ten sums, 0 to 100."""
    length, reference, matches, total = sums[:, 0], sums[:, 1], sums[:, 2 : 2 + _ORDERS], sums[:, 2 + _ORDERS :]
    has_ngrams = total > 0
    # Each order without a match halves the share of the next ones.
    smoothed = 1 / 2.0 ** np.cumsum(has_ngrams & (matches == 0), axis=1)
    shares = np.where(matches > 0, matches, smoothed) / np.where(has_ngrams, total, 1.0)
    logs = np.where(has_ngrams, np.log(shares), 0.0).sum(axis=1) / np.maximum(has_ngrams.sum(axis=1), 1)
    brevity = np.exp(np.minimum(0, 1 - reference / np.where(length > 0, length, 1.0)))
    scored = (matches > 0).any(axis=1)
    return np.where(scored, np.minimum(POINTS * brevity * np.exp(logs), POINTS), 0.0)


def sentence_bleu(text: str, *references: str) -> float:
    """Return the BLEU of a single text, 0 to 100."""
    return min(POINTS, float(_score(text, references).score))


def _of_reply(sample: Sample, prediction: Prediction) -> float | None:
    return sentence_bleu(prediction.text, *sample.references) if sample.references else None


def copied(sample: Sample, prediction: Prediction) -> float:
    """Return the BLEU of the reply against the text that it should not repeat, 0 to 1: the context's `original`."""
    original = argument(sample, "original", metric="copied", expected="the text of the question", valid=_is_text)
    return sentence_bleu(prediction.text, original) / POINTS


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _score(text: str, references: tuple[str, ...]) -> BLEUScore:
    return _bleu().sentence_score(text, references)


@cache
def _bleu() -> BLEU:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True)


_IN_POINTS: dict[str, Any] = {
    "unit": "points",
    "bounds": (0.0, POINTS),
    "extra": "text",
    "kinds": frozenset({"completion"}),
}

METRICS = (
    Metric(name="bleu", score=sums, pool=Pool(2 + 2 * _ORDERS, corpus_bleu), **_IN_POINTS),
    Metric(name="bleu.sentence", score=_of_reply, **_IN_POINTS),
    Metric(name="bleu.lines", score=best(by_line(sentence_bleu, none=0.0)), **_IN_POINTS),
    Metric(name="copied", score=copied, better="low", extra="text", kinds=frozenset({"completion"})),
)
