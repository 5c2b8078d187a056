"""Comparison of an output with the printed one, without the differences that any two runs have.

Two runs differ in seconds, run ids and widths, and a killed one in the moment of its end. As near-ties flip, they also
differ in the measures of sentences, in the notes behind stars, and a little in the numbers of tables. None of this
counts as a change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher
from itertools import pairwise

_MASKS = (
    (re.compile(r"\b\d+\.\d+s\b( \(\d+:\d\d:\d\d\))?"), "<seconds>"),  # from a minute on, pytest prints them twice
    (re.compile(r"\b\d{8}T\d{6}-\d+\b"), "<run>"),
    (re.compile(r"^\* .+"), "* <note>"),
    (re.compile(r"^throughput: (\S+): .+"), r"throughput: \1: <rate>"),
    (re.compile(r"\b[\d,]+ (?=of [\d,]+ (of \d+ cells?|answers kept)\b)"), "<kept> "),
    (re.compile(r"\S+ \[\S+, \S+\](?= n=\d)"), "<measure>"),
    (re.compile(r"(?<!\S)([-=_])\1+(?!\S)"), r"\1"),
    (re.compile(r"\[ +(?=\d+%\])"), "["),
)
_RULE = re.compile(r"-{2,}(  -{2,})+")  # between the headings of a table and its rows
_SENTENCE = re.compile(r"\* |[^\s:]+: ")  # a note or a sentence below a table
_NUMBER = re.compile(r"(\[?)(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)(?<!,)([%*,\]]*)")
_ABSOLUTE, _RELATIVE, _TOKENS = Decimal("0.05"), Decimal("0.10"), Decimal("0.02")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word for the comparison; in a table, a number is `#` in the shape and is compared by its value."""

    shape: str
    number: Decimal = Decimal(0)
    column: str = ""


def settled(output: Sequence[str], printed: Sequence[str]) -> list[str]:
    """The output, with the printed line in place of each line that is alike: any other difference is drift."""
    new, old = list(_words(output)), list(_words(printed))
    shapes = [[tuple(word.shape for word in words) for words in side] for side in (new, old)]
    result = list(output)
    for i, j, size in SequenceMatcher(None, shapes[0], shapes[1], autojunk=False).get_matching_blocks():
        for at in range(size):
            few = _few(old[j + at])
            if all(_alike(one, other, few) for one, other in zip(new[i + at], old[j + at], strict=True)):
                result[i + at] = printed[j + at]
    return result


def _words(lines: Sequence[str]) -> Iterator[list[_Word]]:
    """The words of each line; in a table, by column. It ends with the first sentence; names above rows are no end."""
    columns: list[tuple[str, slice]] = []
    for above, line in pairwise(["", *lines]):
        if _RULE.fullmatch(line):
            starts = [match.start() for match in re.finditer("-+", line)]
            columns = [(above[start:end].strip(), slice(start, end)) for start, end in pairwise([*starts, None])]
        elif not line or _SENTENCE.match(line):
            columns = []
        # Names above rows cross the blanks between columns.
        is_row = columns and not any(line[span.start - 2 : span.start].strip() for _, span in columns[1:])
        cells = [_cell(column, word) for column, span in columns for word in line[span].split()]
        yield cells if is_row else _masked(line)


def _masked(line: str) -> list[_Word]:
    for pattern, kind in _MASKS:
        line = pattern.sub(kind, line)
    return [_Word(word) for word in line.split()]


def _cell(column: str, word: str) -> _Word:
    match = _NUMBER.fullmatch(word)
    if not match:
        return _masked(word)[0]
    if column == "s":
        return _Word("<seconds>")
    before, digits, after = match.groups()
    number = Decimal(digits.replace(",", "")).scaleb(-2 if "%" in after else 0)
    return _Word(f"{before}#{after}", number, column)


def _few(words: Sequence[_Word]) -> Decimal:
    """How far one other answer of the `n` in a row moves a share, or at most a bound of its interval."""
    return max((2 / word.number for word in words if word.column == "n" and word.number), default=Decimal(0))


def _alike(new: _Word, printed: _Word, few: Decimal) -> bool:
    """Whether two words of one shape can come from two runs of one command."""
    slack = Decimal(0)
    if printed.column == "tokens":
        slack = _TOKENS * abs(printed.number)
    elif any(number.as_tuple().exponent for number in (new.number, printed.number)):  # a count has none
        slack = max(_ABSOLUTE, few, _RELATIVE * abs(printed.number))
    return abs(new.number - printed.number) <= slack
