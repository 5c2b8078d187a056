r"""Metrics that compare a whole reply with the references, or look for them in it.

context = {"ignore": {"patterns": [",", r"\$", r"(?s).*#### ", r"\.$"], "case": True, "punctuation": True}}

With `ignore`, `exact_match.loose` leaves out the matches of these regular expressions, one after the other, and what
else is named, in place of its own rules. The patterns of the example are those of OLMES for GSM8K.
"""

from __future__ import annotations

import re
import string
import unicodedata

from msgspec import Struct

from pytest_puma.core import Prediction, Sample, SettingsError
from pytest_puma.metrics.library.reading import argument, best, completion_metric

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


class _Ignored(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a comparison leaves out of both texts."""

    patterns: tuple[str, ...] = ()
    case: bool = False
    punctuation: bool = False
    digits: bool = False

    def rest(self, text: str) -> str:
        """Return what is left of a text."""
        for pattern in self.patterns:
            text = re.sub(pattern, "", text)
        text = text.lower() if self.case else text
        left_out = (string.punctuation if self.punctuation else "") + (string.digits if self.digits else "")
        return text.translate(str.maketrans("", "", left_out))


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


def loosely_equal(sample: Sample, prediction: Prediction) -> float | None:
    """Return 1 if a reference equals the reply but for what the context's `ignore` names, or by `loose_match`."""
    ignored: _Ignored | None = argument(
        *(sample, "ignore", _Ignored | None),
        metric="exact_match.loose",
        expected='a dictionary with any of "patterns", a list of regular expressions, "case", "punctuation", "digits"',
        default=None,
    )
    if ignored is None:
        return best(loose_match)(sample, prediction)
    try:
        return best(lambda text, reference: float(ignored.rest(text) == ignored.rest(reference)))(sample, prediction)
    except re.error as error:
        msg = (
            f"exact_match.loose: sample {sample.id!r} ignores the pattern {error.pattern!r}, which is no regular "
            f"expression: {error}; correct it in the scenario's context(item)"
        )
        raise SettingsError(msg) from error


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
    completion_metric(name="exact_match.loose", score=loosely_equal),
    completion_metric(name="contains", score=best(contains)),
    completion_metric(name="cwe", score=whole_words),
)
