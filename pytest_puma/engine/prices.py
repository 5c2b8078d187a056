"""Prices of filters and string methods that could make large results, checked before they run.

A text that is taken apart pays for its characters as for the elements of a list: `'ab' | sort` makes one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pytest_puma.engine.budget import ELEMENT, Budget, LimitError

Check: TypeAlias = Callable[..., None]

MAX_BITS = 1 << 16
#: Characters that a field of a format such as `%999d` pads at most.
_MAX_PADDING = 999
#: A width of four digits or one that comes from an argument, in `'%9999d' % x` and `'{:9999}'.format(x)`.
_WIDE = re.compile(r"\d{4}|\*|\{[^{}]*\{")
#: Characters at which `split` and `splitlines` part a text.
_SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace()]
_TAKES_APART = (
    "batch", "groupby", "join", "list", "map", "max", "min", "reject", "rejectattr", "select", "selectattr", "slice",
    "sort", "sum", "title", "unique", "urlencode", "wordcount",
)  # fmt: skip


class Prices:
    """The checks of filters and of methods of texts, by name. Each takes the arguments, the value first."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.filters: Mapping[str, Check] = dict.fromkeys(_TAKES_APART, self._apart) | {
            "batch": self._parts,
            "center": self._width,
            "indent": self._indent,
            "join": self._join_filter,
            "replace": self._replace,
            "round": self._round,
            "slice": self._parts,
            "sum": self._sum,
            "trim": self._strip,
        }
        self.methods: Mapping[str, Check] = {
            "center": self._width,
            "expandtabs": self._tabs,
            "join": self._join,
            "ljust": self._width,
            "lstrip": self._strip,
            "replace": self._replace,
            "rjust": self._width,
            "rsplit": self._split,
            "rstrip": self._strip,
            "split": self._split,
            "splitlines": self._split,
            "strip": self._strip,
            "zfill": self._width,
        }

    def product(self, left: Any, right: Any) -> None:
        """Check `left * right`."""
        if isinstance(left, int) and isinstance(right, int):
            check_bits(left.bit_length() + right.bit_length())
        for value, times in ((left, right), (right, left)):
            if isinstance(times, int) and not isinstance(value, int | float):
                self._budget.spend(self._budget.size(value) * max(0, times))

    def format(self, text: str, mark: str, values: Any) -> None:
        """Check a format whose fields begin with `mark`."""
        if _WIDE.search(text):
            msg = f"it pads by more than three digits, or by an argument, in {text[:40]!r}"
            raise LimitError(msg)
        self._budget.spend(len(text) + text.count(mark) * (_MAX_PADDING + self._budget.size(values)))

    def keys(self, values: Any) -> None:
        """Check the keys of a new dictionary: those with equal hashes are compared with each other."""
        count = 0 if isinstance(values, Mapping) else len(values)
        self._budget.require(count * count // 10)

    def _apart(self, value: Any, *_: Any, **__: Any) -> None:
        self._budget.require(ELEMENT * len(value) if isinstance(value, str) else 0)

    def _parts(self, value: Any, parts: Any = 0, *_: Any, **__: Any) -> None:
        self._apart(value)
        self._budget.require(ELEMENT * abs(_whole(parts)))

    def _sum(self, value: Any, attribute: Any = None, start: Any = 0) -> None:  # noqa: ARG002 - those of the filter
        self._apart(value)
        if not isinstance(start, int | float):
            msg = f"it sums from a {type(start).__name__}; expected a number"
            raise LimitError(msg)

    def _round(self, value: Any, precision: Any = 0, *_: Any, **__: Any) -> None:  # noqa: ARG002 - those of the filter
        check_bits(4 * abs(_whole(precision)))

    def _replace(self, text: Any, old: Any = "", new: Any = "", *_: Any, **__: Any) -> None:
        self._budget.spend(str(text).count(str(old)) * self._budget.size(new))

    def _join_filter(self, values: Any, d: Any = "", *_: Any, **__: Any) -> None:
        """`d` is the filter's name for the text between the values."""
        self._join(d, values)

    def _join(self, between: Any, values: Any = ()) -> None:
        self._apart(values)
        parts = len(values) if hasattr(values, "__len__") else 1
        self._budget.spend(parts * self._budget.size(between) + self._budget.size(values))

    def _indent(self, text: Any, width: Any = 4, *_: Any, **__: Any) -> None:
        columns = width if isinstance(width, int) else self._budget.size(width)
        self._apart(text)
        self._budget.spend((str(text).count("\n") + 1) * columns)

    def _width(self, text: Any, width: Any = 80, *_: Any, **__: Any) -> None:  # 80: the filter's own
        self._budget.require(len(str(text)) + _whole(width))

    def _tabs(self, text: str, tabsize: Any = 8) -> None:
        self._budget.require(len(text) + text.count("\t") * _whole(tabsize))

    def _strip(self, text: Any, chars: Any = None) -> None:
        """Each character is searched in `chars`."""
        self._budget.require(len(str(text)) * len(chars) if isinstance(chars, str) else 0)

    def _split(self, text: str, sep: Any = None, *_: Any, **__: Any) -> None:
        parts = text.count(sep) if isinstance(sep, str) and sep else sum(map(text.count, _SPACES))
        self._budget.require(ELEMENT * parts)


def check_bits(bits: int) -> None:
    """Refuse a whole number of more bits than any template needs."""
    if bits > MAX_BITS:
        msg = f"it computes a whole number of more than {MAX_BITS:,} bits"
        raise LimitError(msg)


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0
