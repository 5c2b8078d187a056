"""The shape of a JSON value, written like the value with types in place of its parts.

    {"ids": [str], "seed": int, "data": (None, {"file": str}), "scores": {str: [float]}, "trials?": [int]}

A tuple lists alternatives, of which messages name the last one; `str` as the only key stands for any keys; a key with
`?` may be absent. Keys that the shape does not name are allowed. `int` and `float` are numbers that fit into 64 bits,
and no booleans; `object` is anything.
"""

from __future__ import annotations

from typing import Any, TypeAlias

_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", None: "null"}
_LARGEST = 2**63

#: The path, as in `.tokens[2]`, and the problem.
_Fault: TypeAlias = tuple[str, str]


def misfit(value: Any, shape: Any) -> str:
    """Return what does not fit, as `tokens[2]: expected a whole number`; empty if everything fits."""
    path, problem = _fault(value, shape) or ("", "")
    return f"{path.removeprefix('.')}: {problem}" if path else problem


def _fault(value: Any, shape: Any) -> _Fault | None:
    # Files have thousands of values and hardly a fault: a path is made when there is one.
    kind = type(shape)
    if kind is dict:
        return _fault_of_object(value, shape)
    if kind is list:
        return _fault_of_list(value, shape[0])
    if kind is tuple:
        fault = None
        for alternative in shape:
            if not (fault := _fault(value, alternative)):
                return None
        return fault
    return None if _is(value, shape) else ("", f"expected {_WORDS[shape]}")


def _fault_of_list(value: Any, shape: Any) -> _Fault | None:
    if not isinstance(value, list):
        return "", "expected a list"
    for index, element in enumerate(value):
        if fault := _fault(element, shape):
            return f"[{index}]{fault[0]}", fault[1]
    return None


def _fault_of_object(value: Any, shape: dict[Any, Any]) -> _Fault | None:
    if not isinstance(value, dict):
        return "", "expected an object"
    if str in shape:
        for name, element in value.items():
            if fault := _fault(element, shape[str]):
                return f".{name[:40]!r}{fault[0]}", fault[1]
        return None
    for name, inner in shape.items():
        key = name.removesuffix("?")
        if key not in value:
            if key == name:
                return f".{key}", "missing"
        elif fault := _fault(value[key], inner):
            return f".{key}{fault[0]}", fault[1]
    return None


def _is(value: Any, kind: Any) -> bool:
    if kind is object:
        return True
    if kind is None or isinstance(value, bool):
        return value is kind or (kind is bool and isinstance(value, bool))
    if kind in {int, float}:
        return isinstance(value, (int, kind)) and abs(value) < _LARGEST
    return isinstance(value, kind)
