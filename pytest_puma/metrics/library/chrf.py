"""chrF (Popović 2015), as sacrebleu computes it: F-score of n-grams of 1 to 6 characters, recall counted twice.

`chrf_pp` is chrF++, with words and pairs of words too. Both are of all replies of a cell as one corpus, not a mean.
Each reply adds three numbers by order: the n-grams of the reply, those of the best reference, and the shared ones.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_puma.core import Metric, Pool, Prediction, Sample
from pytest_puma.metrics.library.lines import by_line
from pytest_puma.metrics.library.references import best
from pytest_puma.stats.arrays import Values

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF

_CHARACTERS, _WORDS = 6, 2
POINTS = 100.0
#: Weight of the recall beside that of the precision: the square of beta, which is 2.
_RECALL = 4


def chrf_sums(sample: Sample, prediction: Prediction) -> tuple[float, ...] | None:
    """Return the numbers of a reply for chrF."""
    return _sums(sample, prediction, words=0)


def chrf_pp_sums(sample: Sample, prediction: Prediction) -> tuple[float, ...] | None:
    """Return the numbers of a reply for chrF++."""
    return _sums(sample, prediction, words=_WORDS)


def corpus_chrf(sums: Values) -> Values:
    """Return the chrF of each row of sums, 0 to 100: the F-score of the mean precision and the mean recall."""
    of_reply, of_reference, shared = (sums[:, start::3] for start in range(3))
    in_both = (of_reply > 0) & (of_reference > 0)
    orders = np.maximum(in_both.sum(axis=1), 1)
    precision = (shared / np.where(in_both, of_reply, 1.0) * in_both).sum(axis=1) / orders
    recall = (shared / np.where(in_both, of_reference, 1.0) * in_both).sum(axis=1) / orders
    below = _RECALL * precision + recall
    score: Values = POINTS * (1 + _RECALL) * precision * recall / np.where(below > 0, below, 1.0)
    return score


def sentence_chrf(text: str, reference: str) -> float:
    """Return the chrF of a single text, 0 to 100."""
    metric = _chrf(0)
    sums = metric._compute_segment_statistics(metric._preprocess_segment(text), _ngrams(reference))  # noqa: SLF001
    return min(POINTS, float(metric._compute_f_score(sums)))  # noqa: SLF001


def _sums(sample: Sample, prediction: Prediction, *, words: int) -> tuple[float, ...] | None:
    if not sample.references:
        return None
    references = [[reference] for reference in sample.references]
    # Scores of chrF do not carry their sums.
    (sums,) = _chrf(words)._extract_corpus_statistics([prediction.text], references)  # noqa: SLF001
    return tuple(sums)


@lru_cache(maxsize=16)
def _ngrams(reference: str) -> dict[str, Any]:
    """The n-grams of a reference, which all lines of a reply are compared with."""
    ngrams: dict[str, Any] = _chrf(0)._extract_reference_info([_chrf(0)._preprocess_segment(reference)])  # noqa: SLF001
    return ngrams


@cache
def _chrf(words: int) -> CHRF:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(word_order=words)


_IN_POINTS: dict[str, Any] = {
    "unit": "points",
    "bounds": (0.0, POINTS),
    "extra": "text",
    "kinds": frozenset({"completion"}),
}

METRICS = (
    Metric(name="chrf", score=chrf_sums, pool=Pool(3 * _CHARACTERS, corpus_chrf), **_IN_POINTS),
    Metric(name="chrf_pp", score=chrf_pp_sums, pool=Pool(3 * (_CHARACTERS + _WORDS), corpus_chrf), **_IN_POINTS),
    Metric(name="chrf.lines", score=best(by_line(sentence_chrf, none=0.0)), **_IN_POINTS),
)
