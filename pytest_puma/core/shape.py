"""The shape of a JSON value, written like the value with types in place of its parts.

    {"ids": [str], "seed": int, "data": (None, {"file": str}), "scores": {str: [float]}, "trials?": [int]}

A tuple lists alternatives, of which messages name the last one; `str` as the only key stands for any keys; a key with
`?` may be absent. Keys that the shape does not name are allowed. `int` and `float` are numbers that fit into 64 bits,
and no booleans; `object` is anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", None: "null"}
_LARGEST = 2**63


def misfit(value: Any, shape: Any, place: str = "") -> str:
    """Return what does not fit, as `tokens[2]: expected a whole number`; empty if everything fits."""
    if isinstance(shape, tuple):
        faults = [misfit(value, each, place) for each in shape]
        return faults[-1] if all(faults) else ""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{place}: expected a list"
        return _first(misfit(each, shape[0], f"{place}[{at}]") for at, each in enumerate(value))
    if isinstance(shape, dict):
        return _misfit_object(value, shape, place)
    return "" if _is(value, shape) else f"{place}: expected {_WORDS[shape]}"


def _misfit_object(value: Any, shape: dict[Any, Any], place: str) -> str:
    if not isinstance(value, dict):
        return f"{place}: expected an object"
    dot = f"{place}." if place else ""
    if str in shape:
        return _first(misfit(each, shape[str], f"{dot}{name[:40]!r}") for name, each in value.items())
    for name, inner in shape.items():
        key = name.removesuffix("?")
        if key not in value and key == name:
            return f"{dot}{key}: missing"
        if key in value and (fault := misfit(value[key], inner, f"{dot}{key}")):
            return fault
    return ""


def _first(faults: Iterable[str]) -> str:
    return next(filter(None, faults), "")


def _is(value: Any, kind: Any) -> bool:
    if kind is object:
        return True
    if kind is None or isinstance(value, bool):
        return value is kind or (kind is bool and isinstance(value, bool))
    if kind in {int, float}:
        return isinstance(value, (int, kind)) and abs(value) < _LARGEST
    return isinstance(value, kind)
