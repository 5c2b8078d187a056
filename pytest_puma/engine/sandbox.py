"""Jinja2's immutable sandbox for the chat templates of model files, with limits on time and on size.

Each rendering has a budget of characters (`budget.py`). It pays for the text it prints, for each pass of a loop, for
each call of a macro, and for the results of filters, calls and operators. An expression that could grow without bound
(`'a' * 3000000000`) is measured before it is computed. Functions that no chat template needs, and that would need a
rule of their own, are removed. A second limit, on the processor time of the thread, ends templates that are slow
without making text.

Nothing is computed when a template is compiled: Jinja2 would evaluate constant expressions there, without a budget.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any

from jinja2 import nodes, pass_context
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pytest_puma.engine.budget import ELEMENT, Budget, LimitError
from pytest_puma.engine.metering import metered

if TYPE_CHECKING:
    from jinja2.parser import Parser
    from jinja2.runtime import Context

#: Characters of a template; those in use have up to 30,000.
MAX_TEMPLATE = 1 << 16
#: Price of a pass of a loop, or of a call, in characters.
_STEP = 100
_MAX_BITS = 1 << 16
_MAX_INDENT = 16
#: A width of four digits or one that comes from an argument, in `'%9999d' % x` and `'{:9999}'.format(x)`.
_WIDE = re.compile(r"\d{4}|\*|\{[^{}]*\{")
_NO_METHODS = frozenset("center ljust rjust zfill expandtabs translate encode format_map to_bytes".split())  # noqa: SIM905
_NO_FILTERS = "batch center pprint random round slice striptags sum urlize wordwrap xmlattr".split()  # noqa: SIM905


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Renders inside `budget`; outside of it every rendering fails."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[loopcontrols, _GenerationTag],
            optimized=False,
            # A function that takes the context keeps Jinja2 from computing the output at compile time.
            finalize=pass_context(lambda _, value: self.measured(value)),
        )
        self._budget = Budget()
        for name in _NO_FILTERS:
            del self.filters[name]
        del self.globals["lipsum"]
        self.filters |= {"tojson": self._to_json, "format": self._format}
        for name, check in (
            ("replace", self._check_replace),
            ("join", self._check_join),
            ("indent", self._check_indent),
        ):
            self.filters[name] = _checked(self.filters[name], check)

    def budget(self, characters: int) -> AbstractContextManager[None]:
        """Let this thread render one template with messages of this many characters; a `LimitError` ends it."""
        return self._budget.granted(characters)

    # -- called by the rewritten template ---------------------------------------------------------

    def step(self, characters: int) -> str:
        """Pay for a pass through a body that prints at least this much text."""
        self._budget.spend(_STEP + characters)
        return ""

    def measured(self, value: Any) -> Any:
        """Pay for a value; an iterator becomes a list."""
        if isinstance(value, Iterator):
            value = list(islice(value, self._budget.left // ELEMENT + 1))
        self._budget.spend(self._budget.size(value))
        return value

    def concatenated(self, *values: Any) -> str:
        """The joined texts of the values: Jinja2's operator `~`."""
        self._budget.spend(sum(map(self._budget.size, values)))
        return "".join(map(str, values))

    # -- called by Jinja2's sandbox ---------------------------------------------------------------

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Hide methods that pad or expand by a number."""
        return attr not in _NO_METHODS and super().is_safe_attribute(obj, attr, value)

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Pay for each call, and for its result."""
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if owner is self:
            return function(*args)
        self._budget.spend(_STEP)
        if isinstance(owner, str) and name == "replace":
            self._check_replace(owner, *args, **kwargs)
        if isinstance(owner, str) and name == "join":
            self._check_join(*args, owner, **kwargs)
        return self.measured(super().call(context, function, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Measure the result, then compute it."""
        if operator == "%" and isinstance(left, str):
            self._check_format(left, "%", right)
        if operator == "+" and not isinstance(left, int | float):
            self._budget.spend(self._budget.size(left) + self._budget.size(right))
        if operator == "*":
            self._check_product(left, right)
        if operator == "**" and isinstance(left, int) and isinstance(right, int):
            _check_bits(left.bit_length() * right)
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`str.format` without wide padding and without repeated large arguments."""
        inner = super().wrap_str_format(value)
        if inner is None:
            return None

        def bounded(*args: Any, **kwargs: Any) -> str:
            self._check_format(value.__self__, "{", (args, kwargs))
            return inner(*args, **kwargs)

        return bounded

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        if len(source) > MAX_TEMPLATE:
            msg = f"it has {len(source):,} characters; expected at most {MAX_TEMPLATE:,}"
            raise LimitError(msg)
        tree = metered(super()._parse(source, name, filename))
        tree.set_environment(self)
        return tree

    # -- checks before a large result -------------------------------------------------------------

    def _check_replace(self, text: Any, old: Any, new: Any, *_: Any, **__: Any) -> None:
        self._budget.spend(str(text).count(str(old)) * self._budget.size(new))

    def _check_join(self, values: Any, d: Any = "", *_: Any, **__: Any) -> None:
        """`d` is the filter's name for the text between the values."""
        parts = len(values) if hasattr(values, "__len__") else 1
        self._budget.spend(parts * self._budget.size(d) + self._budget.size(values))

    def _check_indent(self, text: Any, width: Any = 4, *_: Any, **__: Any) -> None:
        columns = width if isinstance(width, int) else self._budget.size(width)
        self._budget.spend((str(text).count("\n") + 1) * columns)

    def _check_product(self, left: Any, right: Any) -> None:
        if isinstance(left, int) and isinstance(right, int):
            _check_bits(left.bit_length() + right.bit_length())
        for value, times in ((left, right), (right, left)):
            if isinstance(times, int) and not isinstance(value, int | float):
                self._budget.spend(self._budget.size(value) * max(0, times))

    def _check_format(self, text: str, mark: str, values: Any) -> None:
        if _WIDE.search(text):
            msg = f"it pads by more than three digits, or by an argument, in {text[:40]!r}"
            raise LimitError(msg)
        self._budget.spend(len(text) + text.count(mark) * self._budget.size(values))

    def _format(self, text: Any, *values: Any, **named: Any) -> str:
        """Jinja2's filter."""
        text = str(text)
        self._check_format(text, "%", (values, named))
        return text % (named or values)  # type: ignore[no-any-return]

    def _to_json(self, value: Any, indent: int | None = None) -> str:
        """As `json.dumps`, piece by piece."""
        self._budget.spend(self._budget.size(value))
        pieces = json.JSONEncoder(ensure_ascii=False, indent=indent and min(indent, _MAX_INDENT)).iterencode(value)
        return "".join(map(self.measured, pieces))


def _check_bits(bits: int) -> None:
    if bits > _MAX_BITS:
        msg = f"it computes a whole number of more than {_MAX_BITS:,} bits"
        raise LimitError(msg)


def _checked(filter_: Callable[..., Any], check: Callable[..., None]) -> Callable[..., Any]:
    """A filter with a check of its arguments first; Jinja2 may pass an argument of its own before them."""
    own = 1 if hasattr(filter_, "jinja_pass_arg") else 0

    @wraps(filter_)
    def bounded(*arguments: Any, **named: Any) -> Any:
        check(*arguments[own:], **named)
        return filter_(*arguments, **named)

    return bounded


class _GenerationTag(Extension):
    """`{% generation %}` marks the assistant's words for training; here it has no effect."""

    tags = {"generation"}  # noqa: RUF012 - declared so by Jinja2

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
