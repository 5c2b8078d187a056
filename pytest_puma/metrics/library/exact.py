"""Metrics that compare a whole reply with the references, or look for them in it."""

from __future__ import annotations

import re
import unicodedata

from pytest_puma.core import Prediction, Sample
from pytest_puma.metrics.library.reading import best, completion_metric

#: For regular expressions: Kana and Han, which have no spaces between words.
UNSPACED = r"\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
#: Signs that are no letters for Python: accents, vowels of Hebrew, Arabic and Thai, and all characters of the scripts
#: of India but their full stops.
SIGNS = (
    r"\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)

ARTICLE = re.compile(r"\b(a|an|the)\b")
_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
_INSIDE = rf"[\w{SIGNS}]"


def exact_match(text: str, reference: str) -> float:
    """Return 1 if the texts are equal character for character, else 0."""
    return float(text == reference)


def loose_match(text: str, reference: str) -> float:
    """Return 1 if the texts are equal without case, punctuation, English articles and white space around words.

    This is SQuAD's exact match, with the punctuation of Unicode. A reference that is only an article or punctuation
    keeps it: otherwise an empty reply would be right.
    """
    if loose := _loose(reference):
        return float(_loose(text) == loose)
    return float(_folded(text).split() == _folded(reference).split())


def contains(text: str, reference: str) -> float:
    """Return 1 if the reference is a part of the text, in upper or lower case; an empty one never is."""
    wanted = _folded(reference).strip()
    return float(bool(wanted) and wanted in _folded(text))


def whole_words(sample: Sample, prediction: Prediction) -> float | None:
    """Return 1 if every reference is in the reply as a whole word, in upper or lower case; None without a reference."""
    text = _folded(prediction.text)
    words = [word for word in (_folded(reference).strip() for reference in sample.references) if word]
    return float(all(has_word(text, word) for word in words)) if words else None


def has_word(text: str, word: str) -> bool:
    """Whether a word, which may begin or end with any character, is in a text and not inside another word."""
    before = "" if _IS_UNSPACED.match(word[0]) else rf"(?<!{_INSIDE})"
    after = "" if _IS_UNSPACED.match(word[-1]) else rf"(?!{_INSIDE})"
    return re.search(before + re.escape(word) + after, text) is not None


def _loose(text: str) -> str:
    bare = "".join(character for character in _folded(text) if not _is_punctuation(character))
    return " ".join(ARTICLE.sub(" ", bare).split())


def _folded(text: str) -> str:
    """The text without differences of case, nor of how accents are encoded."""
    return unicodedata.normalize("NFC", text).casefold()


def _is_punctuation(character: str) -> bool:
    """Whether a character is punctuation: in ASCII also the symbols, as in SQuAD."""
    category = unicodedata.category(character)
    return category[0] == "P" or (character.isascii() and category[0] == "S")


METRICS = (
    completion_metric(name="exact_match", score=best(exact_match)),
    completion_metric(name="exact_match.loose", score=best(loose_match)),
    completion_metric(name="contains", score=best(contains)),
    completion_metric(name="cwe", score=whole_words),
)
