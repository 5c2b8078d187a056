"""ROUGE-L of summaries (Lin 2004, section 3.2): each line of a text is a sentence.

A word of the reference counts if the longest common subsequence of its sentence with any sentence of the reply has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_puma.core import Metric
from pytest_puma.metrics.library.references import best
from pytest_puma.metrics.library.rouge import rouge_l, words


def rouge_lsum(text: str, reference: str) -> float:
    """Return the summary-level ROUGE-L of a text and a reference; 1 if both texts are empty."""
    reply_sentences, reference_sentences = _sentences(text), _sentences(reference)
    if len(reply_sentences) == len(reference_sentences) == 1:
        # The same number, but long texts take milliseconds in place of seconds.
        return rouge_l(text, reference)
    length = sum(map(len, reply_sentences)) + sum(map(len, reference_sentences))
    if not length:
        return float(not text.strip() and not reference.strip())
    return 2 * _hits(reply_sentences, reference_sentences) / length


def _sentences(text: str) -> list[list[str]]:
    return [words(line) for line in text.split("\n")]


def _hits(reply_sentences: Sequence[Sequence[str]], reference_sentences: Sequence[Sequence[str]]) -> int:
    """The number of words of the reference in a common subsequence, each as often as the reply has it."""
    left = Counter(word for sentence in reply_sentences for word in sentence)
    # Each sentence once: a model that repeats itself writes thousands of equal or empty ones.
    others = {tuple(sentence): frozenset(sentence) for sentence in reply_sentences}
    hits = 0
    for sentence in reference_sentences:
        alike = (other for other, its_words in others.items() if not its_words.isdisjoint(sentence))
        places = {place for other in alike for place in common_places(sentence, other)}
        for place in places:
            if left[sentence[place]] > 0:
                left[sentence[place]] -= 1
                hits += 1
    return hits


def common_places(sentence: Sequence[str], other: Sequence[str]) -> Iterator[int]:
    """The places in a sentence of its longest common subsequence with another; of several that of rouge-score."""
    lengths = _lengths(sentence, other)
    row, column = len(sentence), len(other)
    while row and column:
        if sentence[row - 1] == other[column - 1]:
            row, column = row - 1, column - 1
            yield row
        elif lengths[row][column - 1] > lengths[row - 1][column]:
            column -= 1
        else:
            row -= 1


def _lengths(sentence: Sequence[str], other: Sequence[str]) -> list[list[int]]:
    """Lengths of the longest common subsequences of all beginnings of the two."""
    lengths = [[0] * (len(other) + 1)]
    for word in sentence:
        above, row = lengths[-1], [0]
        for column, candidate in enumerate(other, start=1):
            row.append(above[column - 1] + 1 if word == candidate else max(above[column], row[-1]))
        lengths.append(row)
    return lengths


METRICS = (Metric(name="rouge_lsum", score=best(rouge_lsum), kinds=frozenset({"completion"})),)
