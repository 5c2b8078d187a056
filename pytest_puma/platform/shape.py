"""The shape of a JSON value, written like the value with types in place of its parts.

    {"ids": [str], "seed": int, "data": (None, {"file": str}), "scores": {str: [float]}, "trials?": [int]}

A tuple lists alternatives, of which messages name the last one; `str` as the only key stands for any keys; a key with
`?` may be absent. Keys that the shape does not name are allowed. `int` and `float` are numbers that fit into 64 bits,
and no booleans; `object` is anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", None: "null"}
_LARGEST = 2**63
_MISSING = object()


def misfit(value: Any, shape: Any, path: str = "") -> str:
    """Return what does not fit, as `tokens[2]: expected a whole number`; empty if everything fits."""
    if value is _MISSING:
        return _named(path, "missing")
    if isinstance(shape, tuple):
        fault = ""
        for alternative in shape:
            if not (fault := misfit(value, alternative, path)):
                break
        return fault
    if isinstance(shape, dict | list):
        if not isinstance(value, type(shape)):
            return _named(path, f"expected {'a list' if isinstance(shape, list) else 'an object'}")
        return next(filter(None, (misfit(*part) for part in _parts(value, shape, path))), "")
    return "" if _is(value, shape) else _named(path, f"expected {_WORDS[shape]}")


def _parts(value: Any, shape: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """Each part of a list or an object, with its shape and its path."""
    if isinstance(shape, list):
        for index, element in enumerate(value):
            yield element, shape[0], f"{path}[{index}]"
    elif str in shape:
        for name, element in value.items():
            yield element, shape[str], f"{path}.{name[:40]!r}"
    else:
        for name, inner in shape.items():
            key = name.removesuffix("?")
            if key in value or key == name:
                yield value.get(key, _MISSING), inner, f"{path}.{key}"


def _named(path: str, problem: str) -> str:
    return f"{path.removeprefix('.')}: {problem}" if path else problem


def _is(value: Any, kind: Any) -> bool:
    if kind is object:
        return True
    if kind is None or isinstance(value, bool):
        return value is kind or (kind is bool and isinstance(value, bool))
    if kind in {int, float}:
        if isinstance(value, int):
            return abs(value) < _LARGEST
        return isinstance(value, kind) and math.isfinite(value)
    return isinstance(value, kind)
