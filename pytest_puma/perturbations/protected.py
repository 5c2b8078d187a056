"""Words that stay unchanged: another number or name changes the question, and another label may reveal the answer.

An identifier is a word with a digit or a character of code: `pid.cpp`, `max_rows`, `getName`, `/srv/app`, `a=b`, `3.6`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from random import Random

# The look-ahead is only tried at the start of a word, so a long word is scanned once.
_IDENTIFIER = r"(?<!\S)(?=\S*?(?:[\d_\\/@=<>{}$#|~^]|[^\W\d_][.:]+[^\W\d_]|[a-z][A-Z]))\S+"


def between(text: str, labels: Iterable[str], change: Callable[[str, Random], str], random: Random) -> str:
    """Change the text between identifiers and labels, which match in upper and lower case."""
    pieces = _pattern(tuple(labels)).split(text)
    # The pattern's own matches are every second piece.
    return "".join(piece if place % 2 or not piece else change(piece, random) for place, piece in enumerate(pieces))


@cache
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(filter(None, labels), key=len, reverse=True)
    names = [rf"(?<!\w)(?i:{re.escape(label)})(?!\w)" for label in longest_first]
    return re.compile(f"({'|'.join([_IDENTIFIER, *names])})")
