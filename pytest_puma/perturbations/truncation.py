"""Truncated texts. `rate` is the share of the words that are removed; at least one word stays."""

from __future__ import annotations

import re
from random import Random

_WORD = re.compile(r"\S+")


def end(text: str, _: Random, *, rate: float) -> str:
    """The last words are removed."""
    words = list(_WORD.finditer(text))
    stay = _staying(len(words), rate)
    return text[: words[stay - 1].end()] if stay else text


def middle(text: str, _: Random, *, rate: float) -> str:
    """The words in the middle are removed."""
    words = list(_WORD.finditer(text))
    stay = _staying(len(words), rate)
    if stay == len(words):
        return text
    head, tail = (stay + 1) // 2, stay // 2
    rest = text[words[-tail - 1].end() :] if tail else ""
    return text[: words[head - 1].end()] + rest


def _staying(words: int, rate: float) -> int:
    return min(words, max(1, words - int(words * rate)))
