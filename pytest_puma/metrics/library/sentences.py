"""Sentences of a text, by rules: no trained model, no download, the same count everywhere.

    Dr. Lee paid $3.50. Why? It rained... Then I left.
    Dr. Lee paid $3.50. | Why? | It rained... | Then I left.

A sentence ends at `.`, `?`, `!` or `...`, then closing quotes and brackets, then white space; in Chinese and Japanese
at a full stop without white space. `?` and `!` always end a sentence, a line break alone never does. An abbreviation,
an initial or an ellipsis ends one only if the next word is a capitalised one that usually starts sentences; a title
such as `Dr.` ends none.
"""

from __future__ import annotations

import re

#: Latin, Arabic, Urdu, Devanagari, Armenian and Ethiopic.
_MARKS = r".?!\u2026\u061f\u06d4\u0964\u0589\u1362"
#: Where a sentence ends, perhaps, up to the next word. A mark that follows a mark belongs to it.
_END = re.compile(
    rf"""(?<![{_MARKS}])(?P<mark>[{_MARKS}]+)
        ["')\]}}*_\u2019\u201d\u00bb]*
        \s+(?=(?P<next>\S{{1,40}}))
        |[\u3002\uff01\uff1f]+[\u300d\u300f\u201d]*\s*""",
    re.VERBOSE,
)
#: Characters that a word before a mark does not contain.
_BREAK = re.compile(r"[\s?!\u2026]")
_OPENERS = "\"'([{*_\u2018\u201c\u00ab"
#: Letters with full stops between them: U.S., e.g., Ph.D., and the initial of a name.
_LETTERS = re.compile(r"[^\W\d_]{1,2}(?:\.[^\W\d_]{1,2})+|[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")

#: Titles, and abbreviations within a sentence.
_NEVER_LAST = re.compile(
    r"adm|capt|col|dr|e\.g|fr|gen|gov|hon|i\.e|maj|messrs|mr|mrs|ms|prof|rep|rev|sen|sgt", re.IGNORECASE
)
_BEFORE_NUMBERS = re.compile(r"ch|eq|figs?|nos?|pp?|sec|vol", re.IGNORECASE)
_ABBREVIATIONS = re.compile(
    r"al|approx|apr|aug|ave|bros|ca|cf|co|corp|dec|dept|ed|etc|feb|fri|inc|jan|jr|lt|ltd|mon|mt|nov|oct|sept?|sr|st"
    r"|thu|thurs|tues?|vs|wed",
    re.IGNORECASE,
)
#: Usually at the start of a sentence if they are capitalised.
_STARTERS = re.compile(
    r"A|After|All|Also|Although|An|And|Another|Any|Are|As|At|Because|Before|Both|But|By|Can|Could|Did|Do|Does|Each"
    r"|Every|For|From|Had|Has|Have|He|Her|Here|His|How|However|I|If|In|Is|It|Its|Let|Many|Most|My|No|Nor|Not|Now|Of"
    r"|On|Once|One|Or|Our|Please|She|Since|So|Some|Such|That|The|Their|Then|There|These|They|This|Those|Though|To"
    r"|Under|Until|Was|We|Were|What|When|Where|Which|While|Who|Why|Will|With|Would|Yes|Yet|You|Your"
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the white space around them."""
    sentences, start, seen = [], 0, 0
    for end in _END.finditer(text):
        if _ends(end, text[seen : end.start()]):
            sentences.append(text[start : end.end()].strip())
            start = end.end()
        seen = end.end()
    return [sentence for sentence in (*sentences, text[start:].strip()) if sentence]


def _ends(end: re.Match[str], before: str) -> bool:
    """Whether the mark ends a sentence. `before`: the text between it and the mark before it."""
    mark, following = end["mark"], end["next"]
    if mark is None or set(mark) - {".", "\u2026"}:
        return True
    word = _BREAK.split(before)[-1].lstrip(_OPENERS)
    if mark == "." and _NEVER_LAST.fullmatch(word):
        return False
    if mark == "." and _BEFORE_NUMBERS.fullmatch(word):
        return not following[0].isdigit()
    if mark == "." and word.isdigit():
        return not following[0].islower()
    doubtful = mark != "." or _ABBREVIATIONS.fullmatch(word) or _LETTERS.fullmatch(word)
    return not doubtful or _starts(following)


def _starts(following: str) -> bool:
    """Whether a word is capitalised, and usually starts a sentence if it is."""
    word = _WORD.match(following.lstrip(_OPENERS))
    return word is not None and _STARTERS.fullmatch(word[0].capitalize()) is not None and word[0][0].isupper()
