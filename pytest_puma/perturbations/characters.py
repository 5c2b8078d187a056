"""Changes of letters: their case, slips of the keyboard, and letters that are edited by lot.

`rate` is the share of the letters that are changed; each is drawn for itself. The first letter of a word is never lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from string import ascii_lowercase
from typing import TypeAlias

#: Changes the letter at a place of a word, whose letters are a list; one may become none or two.
_Edit: TypeAlias = Callable[[list[str], int, Random], None]

_WORD = re.compile(r"[^\W\d_]+")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
#: Letters that have others on both sides.
_INNER = slice(1, -1)


def upper(text: str, _: Random) -> str:
    """All in capitals."""
    return text.upper()


def lower(text: str, _: Random) -> str:
    """All in small letters."""
    return text.lower()


def random_case(text: str, random: Random) -> str:
    """Each letter a capital or a small one, by a coin."""
    return "".join(random.choice((letter.lower(), letter.upper())) for letter in text)


def typos(text: str, random: Random, *, rate: float) -> str:
    """Slips of the keyboard: the key beside, a letter left out, one struck twice, two in the wrong order."""
    return _edited(text, random, rate, (_beside, _drop, _double, _swap))


def editor(text: str, random: Random, *, rate: float) -> str:
    """Edits without a keyboard's reason: a letter too many, one left out, another one, two in the wrong order."""
    return _edited(text, random, rate, (_insert, _drop, _replace, _swap))


def permute(text: str, random: Random, *, rate: float) -> str:
    """Inner letters of words change places with the next one."""
    return _edited(text, random, rate, (_swap,), _INNER)


def replace(text: str, random: Random, *, rate: float) -> str:
    """Inner letters of words become others."""
    return _edited(text, random, rate, (_replace,), _INNER)


def delete(text: str, random: Random, *, rate: float) -> str:
    """Inner letters of words are left out."""
    return _edited(text, random, rate, (_drop,), _INNER)


def _edited(text: str, random: Random, rate: float, edits: Sequence[_Edit], places: slice = slice(None)) -> str:
    def edit(found: re.Match[str]) -> str:
        word = list(found[0])
        for place in range(len(word))[places]:
            if random.random() < rate:
                random.choice(edits)(word, place, random)
        return "".join(word)

    return _WORD.sub(edit, text)


def _beside(word: list[str], place: int, random: Random) -> None:
    """Letters that the keyboard lacks stay."""
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
    """The other one, a capital where the letter is one."""
    return other.upper() if letter.isupper() else other


def _neighbours() -> dict[str, str]:
    """The keys that touch each key; a row begins half a key to the right of that above it."""
    keys = {letter: (row, column) for row, letters in enumerate(_ROWS) for column, letter in enumerate(letters)}
    near = {(0, -1), (0, 1), (1, -1), (1, 0), (-1, 0), (-1, 1)}
    return {
        letter: "".join(other for other, (down, right) in keys.items() if (down - row, right - column) in near)
        for letter, (row, column) in keys.items()
    }


_NEIGHBOURS = _neighbours()
