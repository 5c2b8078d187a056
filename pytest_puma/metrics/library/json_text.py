"""JSON in a reply: the whole text, with or without a Markdown fence, or the longest object or array in it.

Numbers that JSON lacks, as NaN, are not read. The text of strings stays as it is, so `https://` is no comment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from pytest_puma.metrics.library.fences import unfenced


class NoJson(ValueError):  # noqa: N818 - an answer of the reader, which metrics turn into a score
    """A text without JSON."""


def whole(text: str) -> Any:
    """Return the value that the whole text is. Raises `NoJson` if it is none."""
    try:
        return _DECODER.decode(unfenced(text))
    except (ValueError, RecursionError) as error:
        raise NoJson(text) from error


def within(text: str) -> Any:
    """Return the value that the whole text is, else the longest object or array in it; the first of equally long ones.

    Raises `NoJson` if there is none.
    """
    try:
        return whole(text)
    except NoJson:
        values = _values(text)
        if not values:
            raise
        return max(values, key=lambda pair: pair[0])[1]


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal in JSON: 1 is 1.0, but not true; the order of keys does not matter."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if _is_list(left) and _is_list(right):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _values(text: str) -> list[tuple[int, Any]]:
    """The objects and arrays of a text that are in no other one, each after the number of its characters.

    None of a text with thousands of nested brackets: to try each of them as the first would take minutes.
    """
    try:
        return [*_outermost(text)]
    except RecursionError:
        return []


def _outermost(text: str) -> Iterator[tuple[int, Any]]:
    place = 0
    while opening := _OPENING.search(text, place):
        start = opening.start()
        place, value = _value(text, start)
        if place > start:
            yield place - start, value
        else:
            place = start + 1


def _value(text: str, start: int) -> tuple[int, Any]:
    """The end of the value that begins at a place, and the value; the place itself if none does."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except ValueError:
        return start, None
    return end, value


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _refuse(number: str) -> NoReturn:
    msg = f"{number} is no number of JSON"
    raise ValueError(msg)


#: The beginning of an object or array. Each failure of the decoder counts the lines before it.
_OPENING = re.compile(r"""\{(?=\s*["}])|\[(?=\s*[]\[{"\d\-tfn])""")
_DECODER = json.JSONDecoder(parse_constant=_refuse)
