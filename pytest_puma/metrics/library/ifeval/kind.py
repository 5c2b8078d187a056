"""A kind of instruction: how a reply follows it, and the arguments that it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import ge, lt
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
            msg = f"{foreign[0]}={present[foreign[0]]!r} is no argument of it; expected {named(self.arguments)}"
            raise ValueError(msg)
        if absent := [name for name in self.arguments if name not in present]:
            msg = f"{absent[0]} is missing; expected {named(self.arguments)}"
            raise ValueError(msg)
        return {name: _read(name, reader, present[name]) for name, reader in self.arguments.items()}


def _reader(expected: str, valid: Callable[[Any], bool], convert: Reader) -> Reader:
    """Return the reader that converts a valid value, and raises a `ValueError` for another one."""

    def read(value: Any) -> Any:
        if not valid(value):
            raise ValueError(expected)
        return convert(value)

    return read


def _is_whole(value: Any, minimum: int) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= minimum and not value % 1


def _are_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(text, str) and text for text in value)


_RELATIONS: Mapping[str, Callable[[int, int], bool]] = {"less than": lt, "at least": ge}
count = _reader("a whole number from 0", lambda value: _is_whole(value, 0), int)
position = _reader("a whole number from 1", lambda value: _is_whole(value, 1), int)
text = _reader("a text", lambda value: isinstance(value, str) and bool(value.strip()), str.strip)
texts = _reader("a list of texts", _are_texts, tuple)
letter = _reader("a single character", lambda value: isinstance(value, str) and len(value) == 1, str.lower)
relation = _reader(
    " or ".join(map(repr, _RELATIONS)), lambda value: isinstance(value, str) and value in _RELATIONS, _RELATIONS.get
)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _read(name: str, reader: Reader, value: Any) -> Any:
    try:
        return reader(value)
    except ValueError as error:
        msg = f"{name} is {value!r}; expected {error}"
        raise ValueError(msg) from None
