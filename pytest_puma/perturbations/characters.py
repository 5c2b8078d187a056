"""Changes of letters: their case, typing errors, and random edits.

`rate` is the probability of a change, for each letter independently. The first letter of a word is never deleted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from string import ascii_lowercase
from typing import TypeAlias

#: Changes the letter at an index of a word (a list of letters); it may become none or two letters.
_Edit: TypeAlias = Callable[[list[str], int, Random], None]

_WORD = re.compile(r"[^\W\d_]+")
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


def typos(text: str, random: Random, *, rate: float) -> str:
    """Typing errors: a neighbouring key, a missing letter, a doubled letter, two letters swapped."""
    return _edited(text, random, rate, (_beside, _drop, _double, _swap))


def editor(text: str, random: Random, *, rate: float) -> str:
    """Random edits: an additional letter, a missing letter, another letter, two letters swapped."""
    return _edited(text, random, rate, (_insert, _drop, _replace, _swap))


def permute(text: str, random: Random, *, rate: float) -> str:
    """Inner letters of words are swapped with the next one."""
    return _edited(text, random, rate, (_swap,), _INNER)


def replace(text: str, random: Random, *, rate: float) -> str:
    """Inner letters of words are replaced by others."""
    return _edited(text, random, rate, (_replace,), _INNER)


def delete(text: str, random: Random, *, rate: float) -> str:
    """Inner letters of words are deleted."""
    return _edited(text, random, rate, (_drop,), _INNER)


def _edited(text: str, random: Random, rate: float, edits: Sequence[_Edit], places: slice = slice(None)) -> str:
    def edit(match: re.Match[str]) -> str:
        word = list(match[0])
        for place in range(len(word))[places]:
            if random.random() < rate:
                random.choice(edits)(word, place, random)
        return "".join(word)

    return _WORD.sub(edit, text)


def _beside(word: list[str], place: int, random: Random) -> None:
    """Use a neighbouring key; a letter that is not on the keyboard stays."""
    letter = word[place]
    word[place] = _as(letter, random.choice(_NEIGHBOURS.get(letter.lower(), letter)))


def _drop(word: list[str], place: int, _: Random) -> None:
    if place:
        word[place] = ""


def _double(word: list[str], place: int, _: Random) -> None:
    word[place] *= 2


def _swap(word: list[str], place: int, _: Random) -> None:
    other = place + 1 if place + 1 < len(word) else place - 1
    word[place], word[other] = word[other], word[place]


def _insert(word: list[str], place: int, random: Random) -> None:
    word[place] += random.choice(ascii_lowercase)


def _replace(word: list[str], place: int, random: Random) -> None:
    letter = word[place]
    word[place] = _as(letter, random.choice(ascii_lowercase.replace(letter.lower(), "")))


def _as(letter: str, other: str) -> str:
    """The other letter, in the case of the letter that it replaces."""
    return other.upper() if letter.isupper() else other


def _neighbours() -> dict[str, str]:
    """The adjacent keys of each key; each row starts half a key to the right of the row above."""
    keys = {letter: (row, column) for row, letters in enumerate(_ROWS) for column, letter in enumerate(letters)}
    near = {(0, -1), (0, 1), (1, -1), (1, 0), (-1, 0), (-1, 1)}
    return {
        letter: "".join(other for other, (down, right) in keys.items() if (down - row, right - column) in near)
        for letter, (row, column) in keys.items()
    }


_NEIGHBOURS = _neighbours()
