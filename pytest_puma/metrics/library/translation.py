"""BLEU, chrF and TER, as sacrebleu computes them.

Each is of all replies of a cell as one corpus, not a mean: each reply adds a vector of numbers.

BLEU (Papineni 2002): 13a tokens, n-grams of 1 to 4 words, exponential smoothing. Ten numbers: the length of the reply
and that of the closest reference, its matches and its n-grams by order. Orders without any n-gram do not count
(sacrebleu's `effective_order`): otherwise an exact match of three words would have 0.

chrF (Popović 2015): F-score of n-grams of 1 to 6 characters, recall counted twice; chrF++ (`chrf_pp`) adds words and
pairs of words. Three numbers by order: the n-grams of the reply, those of the best reference, and the shared ones.

TER (Snover 2006): edits that turn a reply into a reference, in % of the reference's words; lower is better, and it can
exceed 100. Two numbers: the edits to the nearest reference, and the mean length of the references.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_puma.core import Pool, Prediction, Sample
from pytest_puma.metrics.library.reading import best, by_line, completion_metric, original
from pytest_puma.stats.arrays import Values

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

#: The maximum of BLEU and chrF, and the TER of a reply that has nothing of its reference.
POINTS = 100.0
#: Orders of n-grams: words of BLEU, characters of chrF, words of chrF++.
_ORDERS, _CHARACTERS, _WORDS = 4, 6, 2
#: Weight of the recall of chrF beside that of the precision: the square of beta, which is 2.
_RECALL = 4
#: TER takes a reply of more words, and of so many times those of the reference, as it is, without shifts of words.
_LONG, _TIMES = 1000, 5


def _bleu_sums(text: str, references: Sequence[str]) -> tuple[float, ...]:
    score = _bleu().sentence_score(text, references)
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
    return min(POINTS, float(_bleu().sentence_score(text, references).score))


def copied(sample: Sample, prediction: Prediction) -> float:
    """Return the BLEU of the reply against the text that it should not repeat, 0 to 1: the context's `original`."""
    return sentence_bleu(prediction.text, original(sample, "copied")) / POINTS


@cache
def _bleu() -> BLEU:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True)


def _chrf_sums(text: str, references: Sequence[str], *, words: int = 0) -> tuple[float, ...]:
    # Scores of chrF do not carry their sums.
    (sums,) = _chrf(words)._extract_corpus_statistics([text], [[reference] for reference in references])  # noqa: SLF001
    return tuple(sums)


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


@lru_cache(maxsize=16)
def _ngrams(reference: str) -> dict[str, Any]:
    """The n-grams of a reference, which all lines of a reply are compared with."""
    ngrams: dict[str, Any] = _chrf(0)._extract_reference_info([_chrf(0)._preprocess_segment(reference)])  # noqa: SLF001
    return ngrams


@cache
def _chrf(words: int) -> CHRF:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(word_order=words)


def corpus_ter(sums: Values) -> Values:
    """Return the TER of each row of sums. Without a word in the references it is 100 for any edit, else 0."""
    edits, length = sums[:, 0], sums[:, 1]
    return np.where(length > 0, 100 * edits / np.where(length > 0, length, 1), np.where(edits > 0, POINTS, 0.0))


def sentence_ter(text: str, reference: str) -> float:
    """Return the TER of a single text."""
    edits, length = _edits(text, [reference])
    return 100 * (edits / length) if length else POINTS * (edits > 0)


def _edits(text: str, references: Sequence[str]) -> tuple[float, float]:
    """The edits to the nearest reference, and the mean length of all."""
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    words, *wanted = (_ter()._preprocess_segment(line).split() for line in (text, *references))  # noqa: SLF001
    edits = (
        _distance(words, reference)
        if len(words) > max(_LONG, _TIMES * len(reference))
        else translation_edit_rate(words, reference)[0]
        for reference in wanted
    )
    return float(min(edits)), sum(map(len, wanted)) / len(wanted)


def _distance(words: Sequence[str], reference: Sequence[str]) -> int:
    """The edits without shifts: the tries of a thousand shifts of a reply without an end take minutes."""
    codes = {word: code for code, word in enumerate(dict.fromkeys(reference))}
    wanted, positions = np.array([codes[word] for word in reference], dtype=np.intp), np.arange(len(reference) + 1)
    row = positions
    for number, word in enumerate(words, start=1):
        replaced = row[:-1] + (wanted != codes.get(word, -1))
        row = np.concatenate(([number], np.minimum(row[1:] + 1, replaced)))
        row = np.minimum.accumulate(row - positions) + positions
    return int(row[-1])


@cache
def _ter() -> TER:
    from sacrebleu.metrics.ter import TER

    return TER()


def _of(sums: Callable[[str, Sequence[str]], Any]) -> Callable[[Sample, Prediction], Any]:
    """Return the score function of a reply and its references; None without references."""

    def score(sample: Sample, prediction: Prediction) -> Any:
        return sums(prediction.text, sample.references) if sample.references else None

    return score


_TEXT = partial(completion_metric, extra="text")
_HIGH = partial(_TEXT, unit="points", bounds=(0.0, POINTS))
_LOW = partial(_TEXT, unit="points", bounds=None, better="low")

METRICS = (
    _HIGH(name="bleu", score=_of(_bleu_sums), pool=Pool(2 + 2 * _ORDERS, corpus_bleu)),
    _HIGH(name="bleu.sentence", score=_of(lambda text, references: sentence_bleu(text, *references))),
    _HIGH(name="bleu.lines", score=best(by_line(sentence_bleu, none=0.0))),
    _TEXT(name="copied", score=copied, better="low"),
    _HIGH(name="chrf", score=_of(_chrf_sums), pool=Pool(3 * _CHARACTERS, corpus_chrf)),
    _HIGH(
        name="chrf_pp", score=_of(partial(_chrf_sums, words=_WORDS)), pool=Pool(3 * (_CHARACTERS + _WORDS), corpus_chrf)
    ),
    _HIGH(name="chrf.lines", score=best(by_line(sentence_chrf, none=0.0))),
    _LOW(name="ter", score=_of(_edits), pool=Pool(2, corpus_ter)),
    _LOW(name="ter.lines", score=best(by_line(sentence_ter, none=POINTS, better="low"), "low")),
)
