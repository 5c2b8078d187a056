"""Check a function against a reference on many inputs. This file runs in the sandbox, behind the program to check.

The inputs are JSON; `examples` are calls in Python, whose arguments show which lists of an input are tuples or sets:

    inputs     "[[[3, 4], 5], ...]"
    examples   "assert insert((1, 2), 3) == (1, 2, 3)"
"""

from __future__ import annotations

import ast
import json
import math
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from reprlib import repr as shortened
from typing import Any

#: As in the harness of EvalPlus: the tolerance of floats where a task has none, and the relative one.
_ABSOLUTE, _RELATIVE = 1e-6, 1e-7
#: Seconds of computing for an input, and how many times those of the reference, whichever is more.
_SECONDS, _TIMES = 1.0, 4
_NUMBERS, _MEMBERS = (int, float, complex), (list, tuple, set)
#: Functions of MBPP whose result may have any order, and those whose result is only told from None.
_ANY_ORDER = {"similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly"}
_ANY_ORDER |= {"larg_nnum", "intersection_array", "find_dissimilar", "Diff"}
_FOUND = {"check_str", "text_match_three", "text_starta_endb"}
#: Functions with several right results: whether one is right, by the arguments, the result and the tolerance.
_ALSO_RIGHT: Mapping[str, Callable[[Sequence[Any], Any, float], bool]] = {
    "find_zero": lambda given, root, atol: abs(sum(c * root**power for power, c in enumerate(given[0]))) <= atol,
    "are_equivalent": lambda _given, _found, _atol: True,
    "sum_div": lambda _given, found, _atol: bool(found == 0),
    "surface_Area": lambda given, found, atol: abs(found - _surface(*given)) <= atol,
    "digit_distance_nums": lambda given, found, _atol: bool(found == _digit_distance(*given)),
}


def check(name: str, program: Mapping[str, Any], reference: Mapping[str, Any], tests: Mapping[str, Any]) -> None:
    """Compare a function of a program with that of the reference on all `inputs` of the tests, with their `atol`.

    Raises an `AssertionError` with the first arguments that they answer differently. A program that computes much
    longer than the reference is ended, as at its limit of time.
    """
    signal.signal(signal.SIGPROF, lambda *_: os.kill(os.getpid(), signal.SIGXCPU))
    examples = example_arguments(tests["examples"], name)
    for values in json.loads(tests["inputs"]):
        arguments, started = arguments_of(values, examples), time.process_time()
        expected = reference[name](*deepcopy(arguments))
        signal.setitimer(signal.ITIMER_PROF, max(_SECONDS, _TIMES * (time.process_time() - started)))
        try:
            found = program[name](*deepcopy(arguments))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if not _is_right(name, arguments, found, expected, tests["atol"]):
            given = ", ".join(map(shortened, arguments))
            msg = f"{name}({given}) returned {shortened(found)}, expected {shortened(expected)}"
            raise AssertionError(msg)


def example_arguments(examples: str, name: str) -> list[Any]:
    """Return the arguments of the first call of a function in lines of Python; none without a call."""
    for node in ast.walk(ast.parse(examples)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            return [ast.literal_eval(argument) for argument in node.args]
    return []


def arguments_of(values: list[Any], examples: list[Any]) -> list[Any]:
    """Return the values of an input in the types of the arguments of an example; complex numbers are texts."""
    if len(values) != len(examples):
        return values
    return [
        _number(value) if isinstance(value, str) and isinstance(example, _NUMBERS) else shaped(value, example)
        for value, example in zip(values, examples, strict=True)
    ]


def shaped(value: Any, example: Any, *, nested: bool = False) -> Any:
    """Return a value of JSON in the types of an example: JSON has no tuples and sets.

    Inner lists without an example stay lists in an argument; deeper, the inner tuples of an example have any depth.
    """
    if isinstance(value, dict) and isinstance(example, dict):
        return {key: shaped(entry, next(iter(example.values()), None)) for key, entry in value.items()}
    if not isinstance(value, list) or not isinstance(example, _MEMBERS):
        return value
    entries = []
    for index, entry in enumerate(value):
        deep, members = isinstance(entry, list), list(example)
        alike = (member for member in (*members[index : index + 1], *members) if isinstance(member, _MEMBERS) == deep)
        entries.append(shaped(entry, next(alike, example if deep and nested else None), nested=True))
    return entries if isinstance(example, list) else type(example)(entries)


def _number(text: str) -> complex | str:
    try:
        return complex(text) if any(map(str.isdigit, text)) else text
    except ValueError:
        return text


def same(found: Any, expected: Any, atol: float) -> bool:
    """Whether two results are equal, or of one type with close numbers; floats always have a tolerance."""
    if found == expected:
        return True
    tolerance = atol or (_ABSOLUTE if _is_floats(expected) else 0)
    return bool(tolerance) and type(found) is type(expected) and _is_close(found, expected, tolerance)


def _is_right(name: str, arguments: Sequence[Any], found: Any, expected: Any, atol: float) -> bool:
    if name in _ANY_ORDER:
        return set(found) == set(expected)
    if name in _FOUND:
        return _is_found(found) == _is_found(expected)
    return same(found, expected, atol) or (name in _ALSO_RIGHT and _ALSO_RIGHT[name](arguments, found, atol))


def _is_found(result: Any) -> bool:
    return result if isinstance(result, bool) else result is not None


def _is_floats(result: Any) -> bool:
    members = result if isinstance(result, (list, tuple)) and result else [result]
    return all(isinstance(member, float) for member in members)


def _is_close(found: Any, expected: Any, atol: float) -> bool:
    if isinstance(found, (list, tuple)) and isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(_is_close, found, expected, [atol] * len(found)))
    if not isinstance(found, _NUMBERS) or not isinstance(expected, _NUMBERS):
        return False
    return abs(found - expected) <= atol + _RELATIVE * abs(expected)


def _surface(edge: float, height: float) -> int:
    """The surface of a pyramid by the height of its apex; the reference takes the slant height."""
    return round(edge**2 + 2 * edge * math.hypot(edge / 2, height))


def _digit_distance(first: int, second: int) -> int:
    """The distance of the digits of two numbers at equal places; the reference takes those of their difference."""
    texts = str(first), str(second)
    width = max(map(len, texts))
    return sum(abs(int(one) - int(other)) for one, other in zip(*(it.zfill(width) for it in texts), strict=True))
