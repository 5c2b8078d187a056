"""Changes of letters and words: case, typing errors, random edits, and truncation.

`rate` is the probability of a change, for each letter independently; of truncation, the share of the words that are
removed. The first letter of a word is never deleted, and at least one word stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from string import ascii_lowercase
from typing import TypeAlias

#: Changes the letter at an index of a word (a list of letters); it may become none or two letters.
_Edit: TypeAlias = Callable[[list[str], int, Random], None]

_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"\S+")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
#: The letters of a word without the first and the last.
_INNER = slice(1, -1)


def upper(text: str, _: Random) -> str:
    """All letters in upper case."""
    return text.upper()


def lower(text: str, _: Random) -> str:
    """All letters in lower case."""
    return text.lower()


def random_case(text: str, random: Random) -> str:
    """Each letter in upper or lower case, with equal probability."""
    return "".join(random.choice((letter.lower(), letter.upper())) for letter in text)


def _edited(text: str, random: Random, *, rate: float, edits: Sequence[_Edit], within: slice = slice(None)) -> str:
    """Edit letters of words, each with the probability `rate`; `within`: the letters of a word that may change."""

    def edit(match: re.Match[str]) -> str:
        word = list(match[0])
        for index in range(len(word))[within]:
            if random.random() < rate:
                random.choice(edits)(word, index, random)
        return "".join(word)

    return _LETTERS.sub(edit, text)


def _beside(word: list[str], index: int, random: Random) -> None:
    """Use a neighbouring key; a letter that is not on the keyboard stays."""
    letter = word[index]
    word[index] = _as(letter, random.choice(_NEIGHBOURS.get(letter.lower(), letter)))


def _drop(word: list[str], index: int, _: Random) -> None:
    if index:
        word[index] = ""


def _double(word: list[str], index: int, _: Random) -> None:
    word[index] *= 2


def _swap(word: list[str], index: int, _: Random) -> None:
    neighbour = index + 1 if index + 1 < len(word) else index - 1
    word[index], word[neighbour] = word[neighbour], word[index]


def _insert(word: list[str], index: int, random: Random) -> None:
    word[index] += random.choice(ascii_lowercase)


def _replace(word: list[str], index: int, random: Random) -> None:
    letter = word[index]
    word[index] = _as(letter, random.choice(ascii_lowercase.replace(letter.lower(), "")))


def _as(letter: str, new: str) -> str:
    """The new letter, in the case of the letter that it replaces."""
    return new.upper() if letter.isupper() else new


def _neighbours() -> dict[str, str]:
    """The adjacent keys of each key; each row starts half a key to the right of the row above."""
    keys = {letter: (row, column) for row, letters in enumerate(_ROWS) for column, letter in enumerate(letters)}
    near = {(0, -1), (0, 1), (1, -1), (1, 0), (-1, 0), (-1, 1)}
    return {
        letter: "".join(key for key, (down, right) in keys.items() if (down - row, right - column) in near)
        for letter, (row, column) in keys.items()
    }


def truncate(text: str, _: Random, *, rate: float) -> str:
    """The last words are removed."""
    words, left = _left(text, rate)
    return text[: words[left - 1].end()] if left else text


def truncate_middle(text: str, _: Random, *, rate: float) -> str:
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


_NEIGHBOURS = _neighbours()

#: Typing errors: a neighbouring key, a missing letter, a doubled letter, two letters swapped.
typos = partial(_edited, edits=(_beside, _drop, _double, _swap))
#: Random edits: an additional letter, a missing letter, another letter, two letters swapped.
editor = partial(_edited, edits=(_insert, _drop, _replace, _swap))
#: Inner letters of words are swapped with the next one, replaced by others, or deleted.
permute = partial(_edited, edits=(_swap,), within=_INNER)
replace = partial(_edited, edits=(_replace,), within=_INNER)
delete = partial(_edited, edits=(_drop,), within=_INNER)
