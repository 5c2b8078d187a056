"""Digests of the code of a scenario: what reads a reply, and everything else of it.

The same replies may give other numbers because a parser changed. The digest of a function is that of its source,
without comments and layout, and of all functions, objects and constants that it reaches in the package and in the
user's own modules. What is imported inside a function is not seen, nor is installed code of others.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path
from textwrap import dedent
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

from pytest_puma.core import Scenario

#: The methods that read replies.
READERS = ("parse_response", "parse_conclusion", "read", "read_conclusion")
_PACKAGE = __name__.partition(".")[0]
_FOREIGN = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


@cache
def code_digests(scenario: type[Scenario]) -> Mapping[str, str]:
    """Return the digests of the parser and of the rest of a scenario, under their names in the signature of a cell."""
    others = [name for name in dir(scenario) if not name.startswith("_") and name not in READERS]
    return {"parser_sha256": _digest(scenario, READERS), "scenario_sha256": _digest(scenario, others)}


def _digest(owner: type, names: Iterable[str]) -> str:
    reached = _Reached(owner)
    for name in names:
        reached.visit(name, inspect.getattr_static(owner, name))
    texts = "\n".join(f"{name}: {text}" for name, text in sorted(reached.texts.items()))
    return sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()


class _Reached:
    """The sources of the functions, and the constants, that some attributes of a class reach, by name."""

    def __init__(self, owner: type) -> None:
        self.owner = owner
        self.texts: dict[str, str] = {}

    def visit(self, name: str, value: object) -> None:
        """Add a function with all that it reaches, a class, or a constant."""
        value = _unwrapped(value)
        if isinstance(value, FunctionType):
            self._visit_function(value)
        elif isinstance(value, type):
            if _is_own(value.__module__):
                self.texts[f"{value.__module__}.{value.__qualname__}"] = _source(value)
        elif isinstance(value, (tuple, list)):
            self._visit_parts(name, enumerate(value))
        elif isinstance(value, (dict, MappingProxyType)):
            self._visit_parts(name, value.items())
        elif isinstance(value, (set, frozenset)):
            self.texts[name] = repr(sorted(map(repr, value)))
        elif isinstance(value, re.Pattern):
            self.texts[name] = repr((value.pattern, value.flags))
        elif _is_constant(value):
            self.texts[name] = repr(value)
        elif _is_own(type(value).__module__):
            self._visit_object(name, value)

    def _visit_parts(self, name: str, parts: Iterable[tuple[object, object]]) -> None:
        for key, part in parts:
            self.visit(f"{name}[{key!r}]", part)

    def _visit_object(self, name: str, value: object) -> None:
        """Add the methods of an object and the texts that it holds; what else it holds may be state."""
        name = f"{name}: {type(value).__qualname__}"
        if name in self.texts:
            return
        self.texts[name] = ""
        for kind in type(value).__mro__:
            for member in vars(kind).values() if _is_own(kind.__module__) else ():
                if isinstance(_unwrapped(member), FunctionType):
                    self.visit("", member)
        slots = [slot for kind in type(value).__mro__ for slot in vars(kind).get("__slots__", ())]
        for field in sorted({*getattr(value, "__dict__", ()), *slots}):
            held = getattr(value, field, None)
            if isinstance(held, (str, tuple, frozenset, re.Pattern, FunctionType)):
                self.visit(f"{name}.{field}", held)

    def _visit_function(self, function: FunctionType) -> None:
        name = f"{function.__module__}.{function.__qualname__}"
        if name in self.texts or not _is_own(function.__module__):
            return
        self.texts[name] = _source(function)
        names = sorted(set(_names(function.__code__)))
        for used in names:
            if used in function.__globals__:
                self._visit_global(f"{function.__module__}.{used}", used, function.__globals__[used], names)
            elif hasattr(self.owner, used):
                self.visit(used, inspect.getattr_static(self.owner, used))
        for number, enclosed in enumerate(inspect.getclosurevars(function).nonlocals.values()):
            self.visit(f"{name}.{number}", enclosed)

    def _visit_global(self, path: str, name: str, value: object, names: Iterable[str]) -> None:
        """Add a name of a module; of a module of one's own, the names that the function uses."""
        if isinstance(value, ModuleType):
            for used in names if _is_own(value.__name__) else ():
                if used in vars(value) and not isinstance(vars(value)[used], ModuleType):
                    self._visit_global(f"{value.__name__}.{used}", used, vars(value)[used], ())
        elif name.isupper() or not isinstance(value, (int, float, list, dict, set)):
            # Numbers and containers in lower case may be state.
            self.visit(path, value)


def _unwrapped(value: object) -> object:
    """The function behind a method, a property, a partial or a cache."""
    for kind, inner in ((property, "fget"), (cached_property, "func"), (partial, "func")):
        if isinstance(value, kind):
            value = getattr(value, inner)
    value = getattr(value, "__func__", value)
    return inspect.unwrap(value) if callable(value) and not isinstance(value, type) else value


def _is_constant(value: object) -> bool:
    return isinstance(value, (str, bytes, int, float, complex, type(None)))


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function uses, with those of the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _source(value: Any) -> str:
    """The source without comments and layout; of code without a file, the names and constants in it."""
    try:
        text = dedent(inspect.getsource(value))
    except (OSError, TypeError):
        code = getattr(value, "__code__", None)
        return "" if code is None else repr((code.co_names, [each for each in code.co_consts if _is_constant(each)]))
    try:
        return ast.unparse(ast.parse(text))
    except SyntaxError:  # the lines of a lambda are a part of a statement
        return text.strip()


@cache
def _is_own(module: str) -> bool:
    """Whether a module belongs to this package or to the user: not to Python, and not installed."""
    if module.partition(".")[0] == _PACKAGE or module in sys.builtin_module_names:
        return module not in sys.builtin_module_names
    file = getattr(sys.modules.get(module), "__file__", None)
    return module in sys.modules and (file is None or not any(map(Path(file).is_relative_to, _FOREIGN)))
