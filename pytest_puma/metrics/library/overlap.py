"""F1 of the words that a reply shares with a reference, however often each occurs and in any order.

The reply "the cat sat" and the reference "a cat sat down" share two words: precision 2/3, recall 2/4, F1 0.571.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Hashable, Sequence

from pytest_puma.core import Metric
from pytest_puma.metrics.library.references import best

_SQUAD_PUNCTUATION = str.maketrans("", "", string.punctuation)
_SQUAD_ARTICLE = re.compile(r"\b(a|an|the)\b")


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
    return _SQUAD_ARTICLE.sub(" ", text.lower().translate(_SQUAD_PUNCTUATION)).split()


def f1(reply_tokens: Sequence[Hashable], reference_tokens: Sequence[Hashable]) -> float:
    """Return the F1 of two lists of tokens, each counted as often as it occurs in both; 1 if both are empty."""
    if not reply_tokens and not reference_tokens:
        return 1.0
    shared = sum((Counter(reply_tokens) & Counter(reference_tokens)).values())
    return 2 * shared / (len(reply_tokens) + len(reference_tokens))


_COMPLETION = frozenset({"completion"})

METRICS = (
    Metric(name="f1_words", score=best(f1_words), kinds=_COMPLETION),
    Metric(name="f1_squad", score=best(f1_squad), kinds=_COMPLETION),
)
