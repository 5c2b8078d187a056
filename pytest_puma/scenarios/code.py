"""Digests of the code of a scenario: what reads a reply, and everything else of it.

The same replies may give other numbers because a parser changed. The digest of a function is that of its lines,
without comments and empty ones, and of all functions, classes, objects and constants that it reaches in the package and
in the user's own modules. What is imported inside a function is not seen, nor is installed code of others.
"""

from __future__ import annotations

import inspect
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from hashlib import sha256
from linecache import checkcache, getlines
from pathlib import Path
from textwrap import dedent
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType

from pytest_puma.core import Scenario

#: The methods that read replies.
READERS = ("parse_response", "parse_conclusion", "read", "read_conclusion")
_WRAPPERS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (property, "fget"),
    (cached_property, "func"),
    ((staticmethod, classmethod, MethodType), "__func__"),
    (partial, "func"),
    (type(cache(len)), "__wrapped__"),
)
#: Members that later versions added; their defaults do not count, so that digests from before them stay.
_ADDED = ("reply_to", "prompt_suffix")
_CONSTANTS = (str, bytes, int, float, complex, type(None))
_PACKAGE = __name__.partition(".")[0]
_FOREIGN = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


@cache
def code_digests(scenario: type[Scenario]) -> Mapping[str, str]:
    """Return the digests of the parser and of the rest of a scenario, under their names in the signature of a cell."""
    members = [name for name in dir(scenario) if not name.startswith("_") and name not in READERS]
    # What other members reach of the parser is named as the parser.
    return {
        "parser_sha256": _digest(scenario, READERS),
        "scenario_sha256": _digest(scenario, members, without=READERS),
    }


def _digest(owner: type, names: Iterable[str], *, without: Sequence[str] = ()) -> str:
    reached = _Reached(owner, without)
    for name in names:
        reached.visit_attribute(name)
    texts = "\n".join(f"{name}: {text}" for name, text in sorted(reached.texts.items()))
    return sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()


class _Reached:
    """The sources of the functions, and the constants, that some attributes of a class reach, by name.

    `without`: attributes that do not count.
    """

    def __init__(self, owner: type, without: Sequence[str] = ()) -> None:
        self.owner, self.without = owner, without
        self.texts: dict[str, str] = {}

    def visit_attribute(self, name: str) -> None:
        """Add an attribute of the class, with what it overrides, as that may be called by `super()`."""
        for kind in self.owner.__mro__ if name not in self.without else ():
            if name in vars(kind) and not _is_added(name, vars(kind)[name]):
                self.visit(f"{kind.__qualname__}.{name}", vars(kind)[name])

    def visit(self, name: str, value: object) -> None:
        """Add a function with all that it reaches, a class, or a constant."""
        value = _unwrapped(value)
        if isinstance(value, FunctionType):
            self._visit_function(value)
        elif isinstance(value, type):
            self._visit_class(f"{value.__module__}.{value.__qualname__}", value)
        elif isinstance(value, (tuple, list, dict, MappingProxyType)):
            for key, part in enumerate(value) if isinstance(value, (tuple, list)) else value.items():
                self.visit(f"{name}[{key!r}]", part)
        elif isinstance(value, (set, frozenset)):
            self.texts[name] = repr(sorted(map(repr, value)))
        elif isinstance(value, re.Pattern):
            self.texts[name] = repr((value.pattern, value.flags))
        elif isinstance(value, _CONSTANTS):
            self.texts[name] = repr(value)
        elif _is_own(type(value).__module__):
            self._visit_object(name, value)

    def _visit_class(self, name: str, kind: type) -> None:
        """Add the methods and the constants of a class, with those that it inherits."""
        for base in kind.__mro__ if name not in self.texts else ():
            self.texts[name] = ""
            for member, value in vars(base).items() if _is_own(base.__module__) else ():
                if _is_added(member, value):
                    continue
                if isinstance(_unwrapped(value), FunctionType) or not member.startswith("__"):
                    self.visit(f"{name}.{member}", value)

    def _visit_object(self, name: str, value: object) -> None:
        """Add the methods of an object and the texts that it holds; other values, and cached ones, may be state."""
        name = f"{name}: {type(value).__qualname__}"
        if name in self.texts:
            return
        self.texts[name] = ""
        self.visit("", type(value))
        slots = [slot for kind in type(value).__mro__ for slot in vars(kind).get("__slots__", ())]
        for field in sorted({*getattr(value, "__dict__", ()), *slots}):
            if isinstance(getattr(type(value), field, None), cached_property):
                continue
            held = getattr(value, field, None)
            if isinstance(held, (str, tuple, frozenset, re.Pattern, FunctionType)):
                self.visit(f"{name}.{field}", held)

    def _visit_function(self, function: FunctionType) -> None:
        name = f"{function.__module__}.{function.__qualname__}"
        if name in self.texts or not _is_own(function.__module__):
            return
        self.texts[name] = _source(function)
        names = sorted({name for code in _codes(function.__code__) for name in code.co_names})
        for used in names:
            if used in function.__globals__:
                self._visit_global(f"{function.__module__}.{used}", used, function.__globals__[used], names)
            else:
                self.visit_attribute(used)
        for variable, enclosed in _enclosed(function):
            self.visit(f"{name}.{variable}", enclosed)

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
    """The function behind a method, a property, a partial or a decorator."""
    for kind, inner in _WRAPPERS:
        if isinstance(value, kind):
            value = getattr(value, inner)
    return inspect.unwrap(value) if isinstance(value, FunctionType) else value


def _enclosed(function: FunctionType) -> Iterator[tuple[str, object]]:
    """The variables of enclosing functions; the class, which `super()` needs, is none of them."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name != "__class__":
            try:
                yield name, cell.cell_contents
            except ValueError:  # not assigned yet
                continue


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _source(function: FunctionType) -> str:
    """The lines of a function; without a file, the names and constants in it."""
    code = function.__code__
    checkcache(code.co_filename)  # a process may run several times, on files that changed
    ends = [end for inner in _codes(code) for _, end, *_ in inner.co_positions() if end is not None]
    last = max([code.co_firstlineno, *ends])
    lines = getlines(code.co_filename, function.__globals__)[code.co_firstlineno - 1 : last]
    kept = [line.rstrip() for line in lines if line.strip() and not line.strip().startswith("#")]
    constants = [value for value in code.co_consts if isinstance(value, _CONSTANTS)]
    return dedent("\n".join(kept)) or repr((code.co_names, constants))


def _is_added(name: str, value: object) -> bool:
    """Whether this is the default of a member that a later version added."""
    return name in _ADDED and value is getattr(Scenario, name)


@cache
def _is_own(module: str) -> bool:
    """Whether a module belongs to this package or to the user: not to Python, and not installed."""
    if module.partition(".")[0] == _PACKAGE or module in sys.builtin_module_names:
        return module not in sys.builtin_module_names
    file = getattr(sys.modules.get(module), "__file__", None)
    return module in sys.modules and (file is None or not any(map(Path(file).is_relative_to, _FOREIGN)))
