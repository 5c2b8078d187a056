"""Overlap of a reply and a reference: F1 of their words, and ROUGE.

F1 counts shared words, however often each occurs and in any order. The reply "the cat sat" and the reference "a cat sat
down" share two words: precision 2/3, recall 2/4, F1 0.571.

ROUGE (Lin 2004): F1 of the n-grams, or of the longest common subsequence, of a reply and a reference.

Words are runs of letters and digits in lower case, without stemming; for English these are the words of the package
rouge-score. A character of Chinese or Japanese is a word. Accents and vowel signs belong to their letter.

In ROUGE-L of summaries (section 3.2), each line is a sentence: a word of the reference counts if the longest common
subsequence of its sentence with any sentence of the reply has it.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

from pytest_puma.metrics.library.exact import ARTICLE, SIGNS, UNSPACED
from pytest_puma.metrics.library.reading import best, completion_metric

_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W_]|[{SIGNS}])+")
_SQUAD_PUNCTUATION = str.maketrans("", "", string.punctuation)


def f1_words(text: str, reference: str) -> float:
    """Return the F1 of words in lower case, separated by white space."""
    return f1(text.lower().split(), reference.lower().split())


def f1_squad(text: str, reference: str) -> float:
    """Return the F1 of SQuAD: of words in lower case, without ASCII punctuation and English articles.

    If nothing is left of both, they are compared with all words: an empty reply is no answer for the reference "A".
    """
    reply_words, reference_words = squad_words(text), squad_words(reference)
    return f1(reply_words, reference_words) if reply_words or reference_words else f1_words(text, reference)


def squad_words(text: str) -> list[str]:
    """Return the words of a text as SQuAD's evaluation normalises them."""
    return ARTICLE.sub(" ", text.lower().translate(_SQUAD_PUNCTUATION)).split()


def f1(reply_tokens: Sequence[Hashable], reference_tokens: Sequence[Hashable]) -> float:
    """Return the F1 of two lists of tokens, each counted as often as it occurs in both; 1 if both are empty."""
    if not reply_tokens and not reference_tokens:
        return 1.0
    shared = sum((Counter(reply_tokens) & Counter(reference_tokens)).values())
    return 2 * shared / (len(reply_tokens) + len(reference_tokens))


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
    positions: dict[str, int] = {}
    for position, word in enumerate(left):
        positions[word] = positions.get(word, 0) | (1 << position)
    everywhere = row = (1 << len(left)) - 1
    for word in right:
        matches = row & positions.get(word, 0)
        row = (row + matches | row - matches) & everywhere
    return len(left) - row.bit_count()


def _ngrams(tokens: Sequence[str], order: int) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[start:] for start in range(order)), strict=False))


def _f1(reply_tokens: Sequence[object], reference_tokens: Sequence[object], text: str, reference: str) -> float:
    """F1, but of two lists without a token only if both texts are empty: 'Paris' and 'Berlin' share no bigram."""
    if not reply_tokens and not reference_tokens:
        return float(not text.strip() and not reference.strip())
    return f1(reply_tokens, reference_tokens)


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
    candidates = {tuple(sentence): frozenset(sentence) for sentence in reply_sentences}
    hits = 0
    for sentence in reference_sentences:
        alike = (candidate for candidate, its_words in candidates.items() if not its_words.isdisjoint(sentence))
        for position in {position for candidate in alike for position in common_positions(sentence, candidate)}:
            if left[sentence[position]] > 0:
                left[sentence[position]] -= 1
                hits += 1
    return hits


def common_positions(sentence: Sequence[str], candidate: Sequence[str]) -> Iterator[int]:
    """The positions in a sentence of its longest common subsequence with another; of several that of rouge-score."""
    lengths = _lengths(sentence, candidate)
    row, column = len(sentence), len(candidate)
    while row and column:
        if sentence[row - 1] == candidate[column - 1]:
            row, column = row - 1, column - 1
            yield row
        elif lengths[row][column - 1] > lengths[row - 1][column]:
            column -= 1
        else:
            row -= 1


def _lengths(sentence: Sequence[str], candidate: Sequence[str]) -> list[list[int]]:
    """Lengths of the longest common subsequences of all beginnings of the two."""
    lengths = [[0] * (len(candidate) + 1)]
    for word in sentence:
        above, row = lengths[-1], [0]
        for column, its_word in enumerate(candidate, start=1):
            row.append(above[column - 1] + 1 if word == its_word else max(above[column], row[-1]))
        lengths.append(row)
    return lengths


rouge_1, rouge_2 = rouge_n(1), rouge_n(2)

METRICS = tuple(
    completion_metric(name=name, score=best(compare))
    for name, compare in (
        ("f1_words", f1_words),
        ("f1_squad", f1_squad),
        ("rouge_1", rouge_1),
        ("rouge_2", rouge_2),
        ("rouge_l", rouge_l),
        ("rouge_geo", rouge_geo),
        ("rouge_lsum", rouge_lsum),
    )
)
