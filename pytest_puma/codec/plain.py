"""Any value as JSON types, for strict JSON.

JSON has no NaN and infinity: they become `null`, and NaN on the way back. UTF-8 has no lone surrogates: they become
U+FFFD.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any


def plain(value: Any) -> Any:
    """Convert to JSON types: dictionaries, lists, text and numbers; anything else becomes text."""
    kind = type(value)
    if kind is str:
        return storable(value)
    if kind is dict:
        return {storable(str(key)): plain(entry) for key, entry in value.items()}
    return value if kind in _JSON_TYPES else _converted(value)


def _converted(value: Any) -> Any:
    """Convert anything that is more than a text or a whole number, for which these questions would be too slow."""
    if is_dataclass(value):
        kind: object = type(value)
        return {name: plain(getattr(value, name)) for name in _names(kind)}
    if isinstance(value, Mapping):
        return {storable(str(key)): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, str):
        return storable(value)
    return value if isinstance(value, (bool, int)) else _other(value)


@cache
def _names(kind: object) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))  # type: ignore[arg-type]


_JSON_TYPES = frozenset({bool, int, type(None)})


def storable(text: str) -> str:
    """Return the text itself, with U+FFFD for each lone surrogate if it has any."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")
    return text


def _other(value: Any) -> Any:
    """Convert floats, NumPy arrays and scalars, and any other object, such as a cell of a data file."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return plain(value.tolist()) if hasattr(value, "tolist") else storable(str(value))
