"""ROUGE (Lin 2004): F1 of the n-grams, or of the longest common subsequence, of a reply and a reference.

Words are runs of letters and digits in lower case, without stemming; for English these are the words of the package
rouge-score. A character of Chinese or Japanese is a word. Accents and vowel signs belong to their letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pytest_puma.core import Metric
from pytest_puma.metrics.library.overlap import f1
from pytest_puma.metrics.library.references import best
from pytest_puma.metrics.library.scripts import SIGNS, UNSPACED

_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W_]|[{SIGNS}])+")


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return _WORD.findall(text.lower())


def rouge_n(order: int) -> Callable[[str, str], float]:
    """Return ROUGE-N of a text and a reference for n-grams of a number of words."""

    def score(text: str, reference: str) -> float:
        return _f1(_ngrams(words(text), order), _ngrams(words(reference), order), text, reference)

    return score


def rouge_l(text: str, reference: str) -> float:
    """Return ROUGE-L of a text and a reference: both as one sequence of words, without a split into sentences."""
    reply_words, reference_words = words(text), words(reference)
    if not reply_words or not reference_words:
        return _f1(reply_words, reference_words, text, reference)
    return 2 * common_subsequence(reply_words, reference_words) / (len(reply_words) + len(reference_words))


def rouge_geo(text: str, reference: str) -> float:
    """Return the geometric mean of ROUGE-1, ROUGE-2 and ROUGE-L of a text and the same reference."""
    product = rouge_1(text, reference) * rouge_2(text, reference) * rouge_l(text, reference)
    return float(product ** (1 / 3))


def common_subsequence(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    One number holds a row of the table as bits (Hyyrö 2004), so 10,000 words a side take a fraction of a second.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(left):
        places[word] = places.get(word, 0) | (1 << place)
    everywhere = row = (1 << len(left)) - 1
    for word in right:
        matches = row & places.get(word, 0)
        row = (row + matches | row - matches) & everywhere
    return len(left) - row.bit_count()


def _ngrams(tokens: Sequence[str], order: int) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[start:] for start in range(order)), strict=False))


def _f1(reply_tokens: Sequence[object], reference_tokens: Sequence[object], text: str, reference: str) -> float:
    """F1, but of two lists without a token only if both texts are empty: 'Paris' and 'Berlin' share no bigram."""
    if not reply_tokens and not reference_tokens:
        return float(not text.strip() and not reference.strip())
    return f1(reply_tokens, reference_tokens)


rouge_1, rouge_2 = rouge_n(1), rouge_n(2)
_COMPLETION = frozenset({"completion"})

METRICS = (
    Metric(name="rouge_1", score=best(rouge_1), kinds=_COMPLETION),
    Metric(name="rouge_2", score=best(rouge_2), kinds=_COMPLETION),
    Metric(name="rouge_l", score=best(rouge_l), kinds=_COMPLETION),
    Metric(name="rouge_geo", score=best(rouge_geo), kinds=_COMPLETION),
)
