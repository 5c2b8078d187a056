"""Truncated texts. `rate` is the share of the words that are removed; at least one word stays."""

from __future__ import annotations

import re
from random import Random

_WORD = re.compile(r"\S+")


def end(text: str, _: Random, *, rate: float) -> str:
    """The last words are removed."""
    words, left = _left(text, rate)
    return text[: words[left - 1].end()] if left else text


def middle(text: str, _: Random, *, rate: float) -> str:
    """The words in the middle are removed."""
    words, left = _left(text, rate)
    if left == len(words):
        return text
    head, tail = (left + 1) // 2, left // 2
    return text[: words[head - 1].end()] + (text[words[-tail - 1].end() :] if tail else "")


def _left(text: str, rate: float) -> tuple[list[re.Match[str]], int]:
    """The words of a text, and the number of those that are not removed."""
    words = list(_WORD.finditer(text))
    return words, min(len(words), max(1, len(words) - int(len(words) * rate)))
