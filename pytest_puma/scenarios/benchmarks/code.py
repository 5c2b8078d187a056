"""Programs in replies: taken out of code fences, and completed with the beginning that the prompt gives.

Nothing is run. `defines_function` counts the programs that Python can parse and that define the function of the tests.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from pytest_puma.core import Metric, Prediction, Sample

_FENCE = re.compile(r"^[ \t]*```([\w+-]*)", re.MULTILINE)
#: A block between fences; the last one may lack its end.
_BLOCK = re.compile(r"^[ \t]*```[\w+-]*[ \t]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_INDENT = "    "


def program(beginning: str, reply: str, function: str) -> str:
    """Return the program of a reply: the first way to read it that Python can parse, else the first way.

    The reply continues the beginning, up to a fence; or it is, or has in a block, the function or its body. The
    imports of the beginning stay.
    """
    ways = list(dict.fromkeys(_ways(beginning, reply, function))) or [reply]
    return next((way for way in ways if function in functions_of(way)), ways[0])


def functions_of(text: str) -> list[str]:
    """Return the functions that a program defines at its top level; none if it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an invalid escape in a string
            tree = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def defines_function(sample: Sample, prediction: Prediction) -> float:
    """Return 1 if the program is Python and defines `function` of the sample's context, else 0."""
    return float(sample.context["function"] in functions_of(prediction.text))


DEFINES_FUNCTION = Metric(name="defines_function", score=defines_function, kinds=frozenset({"completion"}))


def _ways(beginning: str, reply: str, function: str) -> Iterator[str]:
    """The programs that a reply may mean, the most probable first."""
    fence = _FENCE.search(reply)
    # A fence with a language opens a block; a bare one behind code closes the block that the prompt opened.
    if fence is None or not fence[1]:
        yield from _completed(beginning, reply[: fence.start()] if fence else reply, function)
    # Any code is a body, also a call of the function in a block before it.
    blocks = sorted(_BLOCK.findall(reply), key=lambda block: _definition(function).search(block) is None)
    for block in blocks:
        yield from _completed(beginning, block, function)


def _completed(beginning: str, code: str, function: str) -> Iterator[str]:
    """The code instead of the beginning if it defines the function, else behind it, indented as its body."""
    code = code.strip("\n").rstrip()
    if not code:
        return
    if _definition(function).search(code):
        head = _definition(function).split(beginning, maxsplit=1)[0].rstrip()
        yield f"{head}\n\n\n{code}\n" if head else f"{code}\n"
        return
    if not beginning:
        yield f"{code}\n"
        return
    # A reply is stripped, so that its first line lacks its spaces; in a block all lines may lack them.
    first, *rest = code.split("\n")
    yield "\n".join((beginning.rstrip(), _INDENT + first.lstrip(), *rest, ""))
    yield "\n".join((beginning.rstrip(), *(_INDENT + line if line.strip() else line for line in (first, *rest)), ""))


def _definition(function: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:async +)?def +{re.escape(function)}\b", re.MULTILINE)
