"""Choices as lines with letters, and the choice that a reply names.

    A. desk
    B. house

`B`, `(b)`, `B. house`, `The answer is B.` and `house` name the second one. "A house" does not name the first: its `A`
is a word. A reply that names two choices names none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase as LETTERS  # noqa: N812 - a constant

from pytest_puma.scenarios.answers import own_words

__all__ = ["LETTERS", "lettered", "read_choice"]

_EDGES = " \t\r\n*_`\"'.,:;!?()[]{}#>-"


def lettered(texts: Sequence[str]) -> str:
    """Return a line for each choice, empty for none."""
    return "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, texts, strict=False))


def read_choice(reply: str, texts: Sequence[str]) -> str | None:
    """Return the text of the choice that a reply names, None if it names none or several; `texts` as shown."""
    reply = own_words(reply)
    bare = reply.strip(_EDGES)
    same = [text for text in texts if text.strip(_EDGES).casefold() == bare.casefold()]
    if len(same) == 1:
        return same[0]
    letter = _letter(reply, bare, LETTERS[: len(texts)], texts)
    if letter is not None:
        return texts[LETTERS.index(letter)]
    mentioned = [text for text in texts if _mentions(reply, text)]
    # "ice" in "ice cream" is no choice of its own.
    longest = [text for text in mentioned if not any(text != other and _mentions(other, text) for other in mentioned)]
    return longest[0] if len(longest) == 1 else None


def _letter(reply: str, bare: str, letters: str, texts: Sequence[str]) -> str | None:
    """The letter that a reply gives; None for none, or several."""
    if len(bare) == 1 and bare.upper() in letters:
        return bare.upper()
    opened = re.match(
        rf"[\s*_`\"'(\[#>-]*([{letters}])(?:[*_`\"')\]]*[.):,](?=\W|$)|[*_`)\]]+(?=\s|$)|\s*$|\s*\n)", reply
    )
    if opened:
        return opened[1]
    followed = re.match(rf"([{letters}])\s+(.+)", bare, re.DOTALL)
    if followed and followed[2].strip(_EDGES).casefold() == texts[letters.index(followed[1])].strip(_EDGES).casefold():
        return followed[1]
    stated = re.findall(
        rf"\b(?i:answer|choice|option)\b(?i:\s+is|\s+would\s+be)?\s*:?[\s*_`\"'(\[]*([{letters}])(?![\w'])", reply
    )
    marked = re.findall(rf"[(\[]([{letters}])[)\]]|\*\*([{letters}])\b[^*]*\*\*", reply)
    named = {*stated, *(first or second for first, second in marked)}
    return named.pop() if len(named) == 1 else None


def _mentions(reply: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text.strip())}(?!\w)", reply, re.IGNORECASE) is not None
