"""Values of a published record, checked: each error gives the value found and the value expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pytest_puma.core import DataError
from pytest_puma.datasets.frames import unusable

T = TypeVar("T")


def text(record: Mapping[str, Any], *names: str) -> str:
    """Return the text of the first of these columns that the record has."""
    entry = value(record, str, *names)
    if not entry.strip():
        raise DataError(unusable(_named(record, names) or names[0], entry, "a text that is not empty"))
    return entry


def texts(record: Mapping[str, Any], *names: str, empty: bool = True) -> list[str]:
    """Return the list of texts of the first of these columns that the record has; `empty`: it may have no text."""
    entries = value(record, list, *names)
    name = _named(record, names) or names[0]
    if not all(isinstance(entry, str) for entry in entries):
        raise DataError(unusable(name, entries, "a list of texts"))
    if not entries and not empty:
        raise DataError(unusable(name, entries, "at least one text"))
    return entries


def value(record: Mapping[str, Any], kind: type[T], *names: str) -> T:
    """Return the value of the first of these columns that the record has, which is of this type."""
    name = _named(record, names)
    if name is None:
        msg = f"column {' or '.join(map(repr, names))}: missing or empty; the row has: {', '.join(record)}"
        raise DataError(msg)
    entry = record[name]
    if not isinstance(entry, kind) or (isinstance(entry, bool) and kind is not bool):
        raise DataError(unusable(name, entry, _NAMES.get(kind, kind.__name__)))
    return entry


def string(record: Mapping[str, Any], name: str) -> str:
    """Return the text of a column that may be empty but not missing."""
    return "" if record.get(name) == "" else text(record, name)


def position(record: Mapping[str, Any], name: str, keys: Sequence[str], *, first: int = 0) -> int:
    """Return the place from 0 of the choice that a column names by its key, or by its number from `first`.

    A number may be written as a text: `"2"`.
    """
    key = str(value(record, object, name)).strip()
    return list(keys).index(key) if key in keys else number(record, name, len(keys), first=first, or_one_of=keys)


def number(record: Mapping[str, Any], name: str, count: int, *, first: int = 0, or_one_of: Sequence[str] = ()) -> int:
    """Return the place from 0 of one of `count` choices that a column names by its number from `first`."""
    entry = value(record, object, name)
    text = str(entry).strip()
    position = int(text) - first if text.isdecimal() and text.isascii() else -1
    if not 0 <= position < count:
        keys = f"one of {', '.join(or_one_of)}, or " if or_one_of else ""
        raise DataError(unusable(name, entry, f"{keys}a number from {first} to {first + count - 1}"))
    return position


def _named(record: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of these columns that the record has."""
    return next((name for name in names if record.get(name) is not None), None)


_NAMES: Mapping[type, str] = {str: "a text", list: "a list", dict: "an object", int: "a whole number"}
