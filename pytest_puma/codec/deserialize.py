"""The nouns from the JSON of `serialize`, by the types of their fields.

`null` in a field of floats is NaN. A field that the JSON lacks keeps its default, and one that the noun lacks is
ignored, so that records of other versions are read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import cache, cached_property, partial
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, overload

from pytest_puma.codec import responses
from pytest_puma.core import DeclaredScore, Likelihood, Message, Messages, Outcome, Power, Prediction, Usage

T = TypeVar("T")
_Reader = Callable[[Any], Any]
_WORDS = {str: "a text", int: "a whole number", bool: "true or false"}
_LARGEST = 2**63


class PredictionLines(Sequence[Prediction]):
    """Predictions as lines of JSON, which are read when the first one is asked for: few runs look at them again."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines

    @cached_property
    def _read(self) -> tuple[Prediction, ...]:
        return tuple(prediction_from(json.loads(line)) for line in self.lines)

    @overload
    def __getitem__(self, place: int) -> Prediction: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Prediction]: ...
    def __getitem__(self, place: int | slice) -> Prediction | Sequence[Prediction]:
        """One prediction, or several."""
        return self._read[place]

    def __len__(self) -> int:
        """Their number."""
        return len(self.lines)


def from_lines(text: str) -> Outcome:
    """Read the outcome that `serialize.to_lines` wrote."""
    head, *lines = text.split("\n")
    return replace(read(Outcome, {**json.loads(head), "predictions": []}), predictions=PredictionLines(lines))


def read(kind: type[T], value: Any) -> T:
    """Make an object of a dataclass from its JSON; a `ValueError` names the field that has another type."""
    any_kind: Any = kind
    made: T = _reader(any_kind)(value)
    return made


def prediction_from(entry: Mapping[str, Any]) -> Prediction:
    """Read a prediction; those of older versions have no choices, references and likelihoods.

    Runs have thousands of them, for which the way by types would be too slow.
    """
    unchanged = {name: entry[name] for name in _PREDICTION if name in entry}
    tuples: dict[str, Any] = {name: tuple(entry[name]) for name in ("raw", "logprobs", "units")}
    tuples |= {name: tuple(entry.get(name, ())) for name in ("references", "choices", "order")}
    for name in ("likelihoods", "unconditional"):
        tuples[name] = tuple(Likelihood(**each) for each in entry.get(name, ()))
    prompts = tuple(None if messages is None else messages_from(messages) for messages in entry["prompts"])
    scores = {name: tuple(value) if isinstance(value, list) else value for name, value in entry["scores"].items()}
    recorded, continuations = responses.unpacked(entry)
    return Prediction(
        **unchanged
        | tuples
        | {"prompts": prompts, "scores": scores, "usage": Usage(**entry["usage"])}
        | {"responses": recorded, "continuations": continuations}
    )


def messages_from(entries: Iterable[Mapping[str, Any]]) -> Messages:
    """Read messages."""
    return tuple(Message(**entry) for entry in entries)


@cache
def _reader(kind: Any) -> _Reader:
    """The function that reads a value of a type; of one that is not listed here, the value itself."""
    if kind is Prediction:
        return prediction_from
    if kind in _WORDS:
        return partial(_checked, kind)
    if kind is float:
        return _number
    if is_dataclass(kind):
        return _of_fields(kind)
    return _of_generic(get_origin(kind), get_args(kind))


def _of_generic(origin: Any, arguments: tuple[Any, ...]) -> _Reader:
    if origin in {tuple, Sequence}:
        each = _reader(arguments[0])
        return lambda value: tuple(map(each, _checked_list(value)))
    if origin is Mapping:
        each = _reader(arguments[1])
        return lambda value: {name: each(part) for name, part in _checked_object(value).items()}
    if origin is Literal:
        return lambda value: value if value in arguments else _refuse(f"one of {', '.join(map(str, arguments))}")
    kinds = [kind for kind in arguments if kind is not NoneType]
    if origin in {Union, UnionType} and len(kinds) == 1:
        inner = _reader(kinds[0])
        return lambda value: None if value is None else inner(value)
    return lambda value: value


def _of_fields(kind: Any) -> _Reader:
    hints = get_type_hints(kind)
    own = fields(kind)
    readers = {each.name: _SPECIAL.get((kind, each.name)) or _reader(hints[each.name]) for each in own}
    needed = {each.name for each in own if each.default is MISSING and each.default_factory is MISSING}

    def made(value: Any) -> Any:
        entry, parts = _checked_object(value), {}
        for name, reader in readers.items():
            if name in entry:
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


#: Fields in which null is infinity.
_SPECIAL: Mapping[tuple[Any, str], _Reader] = {(Power, "needed"): _infinite, (DeclaredScore, "bounds"): _bounds}
_PREDICTION = tuple(each.name for each in fields(Prediction) if each.name not in {"responses", "continuations"})
