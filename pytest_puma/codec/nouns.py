"""Dataclasses from the JSON of `plain`, by the types of their fields.

`null` in a field of floats is NaN. A field that the JSON lacks keeps its default, and one that the noun lacks is
ignored, so that records of other versions are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pytest_puma.core import DeclaredScore, Outcome, Power

T = TypeVar("T")
_Reader = Callable[[Any], Any]
_WORDS = {str: "a text", int: "a whole number", bool: "true or false"}
_LARGEST = 2**63


def read(kind: type[T], value: Any) -> T:
    """Make an object of a dataclass from its JSON; a `ValueError` names the field that has another type."""
    any_kind: Any = kind
    made: T = _reader(any_kind)(value)
    return made


@cache
def _reader(kind: Any) -> _Reader:
    """The function that reads a value of a type; of one that is not listed here, the value itself."""
    if kind in _WORDS:
        return partial(_checked, kind)
    if kind is float:
        return _number
    if is_dataclass(kind):
        return _of_fields(kind)
    return _of_generic(get_origin(kind), get_args(kind))


def _of_generic(origin: Any, arguments: tuple[Any, ...]) -> _Reader:
    if origin in {tuple, Sequence}:
        element = _reader(arguments[0])
        return lambda value: tuple(map(element, _checked_list(value)))
    if origin is Mapping:
        element = _reader(arguments[1])
        return lambda value: {name: element(part) for name, part in _checked_object(value).items()}
    if origin is Literal:
        return lambda value: value if value in arguments else _refuse(f"one of {', '.join(map(str, arguments))}")
    kinds = [kind for kind in arguments if kind is not NoneType]
    if origin in {Union, UnionType} and len(kinds) == 1:
        inner = _reader(kinds[0])
        return lambda value: None if value is None else inner(value)
    return lambda value: value


def _of_fields(kind: Any) -> _Reader:
    hints = get_type_hints(kind)
    readers = {name: _SPECIAL.get((kind, name)) or _reader(hint) for name, hint in hints.items()}
    needed = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}

    def made(value: Any) -> Any:
        entry, parts = _checked_object(value), {}
        for name, reader in readers.items():
            if (kind, name) in FLAT:
                parts[name] = reader(entry)
            elif name in entry:
                try:
                    parts[name] = reader(entry[name])
                except (ValueError, TypeError, LookupError, AttributeError) as error:
                    msg = f"{name}: {error}"
                    raise ValueError(msg) from error
        if missing := needed - parts.keys():
            msg = f"{min(missing)}: missing"
            raise ValueError(msg)
        return kind(**parts)

    return made


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, float):
        return value
    return float(value) if isinstance(value, int) and abs(value) < _LARGEST else _refuse("a number")


def _checked(kind: type, value: Any) -> Any:
    # Larger numbers have no place in a database.
    fits = isinstance(value, kind) and not (isinstance(value, int) and abs(value) >= _LARGEST)
    return value if fits else _refuse(_WORDS[kind])


def _checked_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else _refuse("a list")


def _checked_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else _refuse("an object")


def _refuse(expected: str) -> Any:
    msg = f"expected {expected}"
    raise ValueError(msg)


def _infinite(value: Any) -> float:
    return math.inf if value is None else _number(value)


def _bounds(value: Any) -> tuple[float, float] | None:
    """Bounds, of which either may be infinite."""
    if value is None:
        return None
    low, high = value
    return (-_infinite(None) if low is None else _number(low), _infinite(high))


#: Records whose fields stand in the JSON beside those of the noun that has them.
FLAT: Collection[tuple[Any, str]] = {(Outcome, name) for name in ("name", "tables", "judgement", "execution")}
#: Fields in which null is infinity.
_SPECIAL: Mapping[tuple[Any, str], _Reader] = {(Power, "needed"): _infinite, (DeclaredScore, "bounds"): _bounds}
