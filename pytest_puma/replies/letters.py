"""Choices as lines with letters, and the choice that a reply names.

    A. desk
    B. house

`B`, `(b)`, `B. house`, `The answer is B.` and `house` name the second one. "A house" does not name the first: its `A`
is a word. A reply that names two choices names none: `A or B`, `A. house`, `A. desk ... The answer is B`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from string import ascii_uppercase as LETTERS  # noqa: N812 - a constant

from pytest_puma.replies.answers import own_words

__all__ = ["LETTERS", "lettered", "names_another", "read_choice"]

_EDGES = " \t\r\n*_`\"'.,:;!?()[]{}#>-"
_SIGNS = r"[\s*_`\"'(\[{#>-]*"
#: Another letter behind one: "(A) or (B)", "B, C, and D", "A/B".
_ANOTHER = re.compile(
    r"""[)\]}*_`"']* \s* (?: (?: [,;/&+] | \b(?:or|and) (?![^\W_]) ) \s* )+
    (?: (?:also|choice|either|maybe|option|perhaps|possibly) \s+ )* [*_`"']*
    (?: [(\[{] [A-Za-z] [)\]}] | [A-HJ-Z] (?![\w'\u2019]) )""",
    re.VERBOSE,
)
#: A denied letter or text is not chosen.
_DENIED = r"(?:\b(?:instead\s+of|neither|never|nor|not|other\s+than|rather\s+than)|n['\u2019]t)\b"
_DENIED += r"(?:\s+(?:an?|be|choice|option|the))*\s+[*_`\"'(\[]*"
#: `A` before a word is an article, unless the word goes on with the reason or with another letter.
_ARTICLE = r"(?![ \t]+(?!(?:and|as|because|but|due|for|given|is|or|since|so|which|with)\b)[a-z])"


def lettered(texts: Sequence[str]) -> str:
    """Return a line for each choice, empty for none."""
    return "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, texts, strict=False))


def names_another(text: str, end: int) -> bool:
    """Whether another letter stands beside the one that ends at this place: `(A) or (B)` names no choice."""
    return _ANOTHER.match(text, end) is not None


def read_choice(reply: str, texts: Sequence[str]) -> str | None:
    """Return the text of the choice that a reply names, None if it names none or several; `texts` as shown."""
    reply = own_words(reply)
    bare = reply.strip(_EDGES)
    letters = LETTERS[: len(texts)]
    exact = [text for text in texts if text.strip(_EDGES) == bare]
    # The prompt asks for a letter: a capital one is a place, also where texts are letters.
    if len(bare) == 1 and bare.upper() in letters and (bare in letters or not exact):
        return texts[letters.index(bare.upper())]
    same = exact or [text for text in texts if _folded(text) == bare.casefold()]
    if len(same) == 1:
        return same[0]
    reply = _without_list(reply, letters)
    named = set(_named(reply, letters, texts))
    if named:
        return named.pop() if len(named) == 1 else None
    return _mentioned(reply, texts)


def _without_list(reply: str, letters: str) -> str:
    """The reply without a list of the choices, which gives none of them: lines with letters in their order."""
    line = re.compile(rf"^[ \t*_>-]*[(\[]?([{letters}])[)\].:][*_]*[ \t].*", re.MULTILINE)
    first, second = (*(match[1] for match in line.finditer(reply)), "", "")[:2]
    return line.sub("", reply) if first < second else reply


def _named(reply: str, letters: str, texts: Sequence[str]) -> Iterator[str | None]:
    """The choices that a reply names by a letter; None for a letter that stands beside another one or its text."""
    stated = [*_opening(reply, letters, texts), *_stated(reply, letters)]
    for letter, end in stated or _marked(reply, letters):
        text, behind = texts[letters.index(letter)], _text_behind(reply, end, texts)
        yield text if behind in {None, text} and not names_another(reply, end) else None


def _opening(reply: str, letters: str, texts: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The letter that a reply begins with."""
    signs = r"""[*_`"')\]]* [.):,] (?=\W|$) | [*_`)\]]+ (?=\s|$) | [ \t]*$"""
    match = re.match(rf"{_SIGNS} ([{letters}]) (?: {signs} | (?=[ \t]+(\S.*)) )", reply, re.VERBOSE | re.MULTILINE)
    if match and (not match[2] or _folded(match[2]) == _folded(texts[letters.index(match[1])])):
        yield match[1], match.end(1)


def _stated(reply: str, letters: str) -> Iterator[tuple[str, int]]:
    """The letters that a reply states as its answer, a small one before a sign, or has alone in the last line."""
    letter = rf"""(?: ([{letters}]) (?![\w'\u2019]) {_ARTICLE}
        | ([{letters.lower()}]) (?= ["'*_`)\]]* (?: [.;:!] | \s*\Z | \n ) ) )"""
    pattern = rf"""(?i: \b(?:answer|choice|option) \b (?: \s+(?:is|would\s+be)\b | ["'*_`]* \s* : )
        | \b(?:choose|chose|pick|select|go\s+with) (?:\s+(?:answer|choice|option|the))* \b )
        [\s:*_`"'(\[{{]* (?: (?i:choice|option) \s+ [*_`"'(\[]* )? {letter}"""
    for match in re.finditer(pattern, reply, re.VERBOSE):
        yield match[match.lastindex or 0].upper(), match.end(match.lastindex or 0)
    last = reply.rstrip(_EDGES).rpartition("\n")[2].lstrip(_EDGES)
    if len(last) == 1 and last in letters:
        yield last, len(reply)


def _marked(reply: str, letters: str) -> Iterator[tuple[str, int]]:
    """The letters between brackets or tags, in bold, or behind `option`, that are not denied."""
    pattern = rf"""({_DENIED})? (?: [(\[{{>] ([{letters}{letters.lower()}]) [)\]}}<] | \*\*([{letters}]) \b [^*\n]* \*\*
        | \b(?i:answer|choice|option) \s+ ([{letters}]) (?![\w'\u2019]) {_ARTICLE} )"""
    for match in re.finditer(pattern, reply, re.VERBOSE):
        if not match[1]:
            yield match[match.lastindex or 0].upper(), match.end(match.lastindex or 0)


def _text_behind(reply: str, end: int, texts: Sequence[str]) -> str | None:
    """The choice whose text stands behind a letter, up to the end of a line or clause; None for other words."""
    line = reply[end : end + 2000].lstrip(_EDGES).partition("\n")[0]
    ending = r"(?:[.,;:!?*_`\"')\]]|\s*$)"
    behind = [text for text in texts if re.match(rf"{re.escape(_folded(text))}{ending}", line.casefold())]
    # Of texts that differ in case alone, the one with the case of the reply.
    return max(behind, key=lambda text: (len(text), line.startswith(text.strip(_EDGES))), default=None)


def _mentioned(reply: str, texts: Sequence[str]) -> str | None:
    mentioned = [text for text in texts if _mentions(reply, text)]
    # "ice" in "ice cream" is no choice of its own.
    longest = [text for text in mentioned if not any(text != more and _mentions(more, text) for more in mentioned)]
    return longest[0] if len(longest) == 1 else None


def _mentions(reply: str, text: str) -> bool:
    """Whether a reply has a text as words, and not only denied."""
    word = rf"(?<!\w){re.escape(text.strip())}(?!\w)"
    return any(not match[1] for match in re.finditer(rf"({_DENIED})?{word}", reply, re.IGNORECASE))


def _folded(text: str) -> str:
    return text.strip(_EDGES).casefold()
