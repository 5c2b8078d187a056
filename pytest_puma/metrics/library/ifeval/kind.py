"""A kind of instruction: how a reply follows it, and the arguments that it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pytest_puma.phrases import named

#: Returns the argument as its check takes it. Raises a `ValueError` that names the expected values.
Reader: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of instruction. `follows(text, **arguments)`; `arguments`: the reader of each, all of them required."""

    follows: Callable[..., bool]
    arguments: Mapping[str, Reader] = field(default_factory=dict)

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of an instruction of this kind.

        Copies of the data in tables give every instruction all arguments: null or empty where they are not its own,
        whole numbers as floats. Raises a `ValueError` for any other value that cannot be used.
        """
        present = {name: value for name, value in given.items() if not _missing(value)}
        if foreign := sorted(name for name in present.keys() - self.arguments.keys() if present[name]):
            msg = f"{foreign[0]}={present[foreign[0]]!r} is no argument of it; expected {self._names()}"
            raise ValueError(msg)
        if absent := [name for name in self.arguments if name not in present]:
            msg = f"{absent[0]} is missing; expected {self._names()}"
            raise ValueError(msg)
        return {name: _read(name, reader, present[name]) for name, reader in self.arguments.items()}

    def _names(self) -> str:
        return named(self.arguments)


def count(value: Any) -> int:
    """Read a whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0 or value % 1:
        raise ValueError("a whole number from 0")
    return int(value)


def position(value: Any) -> int:
    """Read a whole number from 1."""
    try:
        number = count(value)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError("a whole number from 1")
    return number


def text(value: Any) -> str:
    """Read a text; without the white space around it."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text")
    return value.strip()


def texts(value: Any) -> tuple[str, ...]:
    """Read a list of texts."""
    if not isinstance(value, (list, tuple)) or not value or not all(isinstance(each, str) and each for each in value):
        raise ValueError("a list of texts")
    return tuple(value)


def letter(value: Any) -> str:
    """Read a single character, in lower case."""
    if not isinstance(value, str) or len(value) != 1:
        raise ValueError("a single character")
    return value.lower()


def relation(value: Any) -> Callable[[int, int], bool]:
    """Read how a number compares with its limit."""
    if not isinstance(value, str) or value not in _RELATIONS:
        raise ValueError(" or ".join(map(repr, _RELATIONS)))
    return _RELATIONS[value]


_RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "less than": lambda number, limit: number < limit,
    "at least": lambda number, limit: number >= limit,
}


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _read(name: str, reader: Reader, value: Any) -> Any:
    try:
        return reader(value)
    except ValueError as error:
        msg = f"{name} is {value!r}; expected {error}"
        raise ValueError(msg) from None
