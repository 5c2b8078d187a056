"""Jinja2's immutable sandbox for chat templates of model files and for prompts, with limits on time and on size.

Each rendering has a budget of characters (`budget.py`). It pays for the text it prints, for each pass of a loop, for
each call of a macro, and for the results of filters, calls and operators. An expression that could grow without bound
(`'a' * 3000000000`) is measured before it is computed (`prices.py`). Functions that no template needs, and that would
need a rule of their own, are removed. A second limit, on the processor time of the thread, ends templates that are slow
without making text.

Nothing is computed when a template is compiled: Jinja2 would evaluate constant expressions there, without a budget.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager
from functools import wraps
from typing import TYPE_CHECKING, Any

from jinja2 import BaseLoader, Undefined, nodes, pass_context
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from pytest_puma.engine.budget import ELEMENT, Budget, LimitError
from pytest_puma.engine.metering import metered
from pytest_puma.engine.prices import Check, Prices, check_bits

if TYPE_CHECKING:
    from jinja2.parser import Parser
    from jinja2.runtime import Context

#: Characters of a template; those in use have up to 30,000.
MAX_TEMPLATE = 1 << 16
#: Price of a pass of a loop, or of a call, in characters.
_STEP = 100
_MAX_INDENT = 16
#: The methods that the rewritten template calls.
_METERING = frozenset({"step", "measured", "unpacked", "concatenated"})
_NO_METHODS = frozenset("translate encode format_map fromkeys striptags to_bytes unescape".split())  # noqa: SIM905
_NO_FILTERS = "pprint random striptags urlize wordwrap xmlattr".split()  # noqa: SIM905


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Renders inside `budget`; outside of it every rendering fails.

    `loader` finds included templates, `undefined` is what an unknown name means; line breaks at the end of a file are
    kept if `keeps_end`.
    """

    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def __init__(
        self, *, loader: BaseLoader | None = None, undefined: type[Undefined] = Undefined, keeps_end: bool = False
    ) -> None:
        super().__init__(
            loader=loader,
            undefined=undefined,
            keep_trailing_newline=keeps_end,
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[loopcontrols, _GenerationTag],
            optimized=False,
            # A file that is edited during a run changes no prompt of it.
            auto_reload=False,
            # All included templates in a plain dictionary: they are few, and each prompt looks some up.
            cache_size=-1,
            # A function that takes the context keeps Jinja2 from computing the output at compile time.
            finalize=pass_context(lambda _, value: self.measured(value)),
        )
        self._budget = Budget()
        self._prices = Prices(self._budget)
        for name in _NO_FILTERS:
            del self.filters[name]
        del self.globals["lipsum"]
        self.globals |= {"dict": self._dictionary, "namespace": self._namespace}
        self.filters |= {"tojson": self._to_json, "format": self._format}
        for name, filter_ in self.filters.items():
            self.filters[name] = self._bounded(filter_, self._prices.filters.get(name))

    def budget(self, variables: Callable[[], int]) -> AbstractContextManager[None]:
        """Let this thread render one template; a `LimitError` ends it. `variables` counts their characters."""
        return self._budget.granted(variables)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """The globals of a template, as a dictionary: Jinja2's own mapping takes a fifth of the time of a rendering."""
        return {**self.globals, **(d or {})}

    # -- called by the rewritten template ---------------------------------------------------------

    def step(self, characters: int) -> str:
        """Pay for a pass through a body that prints at least this much text."""
        self._budget.spend(_STEP + characters)
        return ""

    def measured(self, value: Any) -> Any:
        """Pay for a value; an iterator becomes a list."""
        if type(value) is str:
            # Most values are, and a prompt has hundreds.
            self._budget.spend(len(value))
            return value
        if isinstance(value, Iterator):
            value = self._listed(value)
        self._budget.spend(self._budget.size(value))
        return value

    def unpacked(self, values: Any) -> Any:
        """Check the values of `f(*values)`."""
        self._budget.require(ELEMENT * len(values) if hasattr(values, "__len__") else 0)
        return values

    def concatenated(self, *values: Any) -> str:
        """The joined texts of the values: Jinja2's operator `~`."""
        self._budget.spend(sum(map(self._budget.size, values)))
        return "".join(map(str, values))

    # -- called by Jinja2's sandbox ---------------------------------------------------------------

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Hide methods that expand a text or a number without bound."""
        return attr not in _NO_METHODS and super().is_safe_attribute(obj, attr, value)

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Pay for each call, and for its result."""
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if owner is self and name in _METERING:
            return function(*args)
        self._budget.spend(_STEP)
        if isinstance(owner, str) and (check := self._prices.methods.get(name)):
            args = tuple(map(self._unless_iterator, args))
            check(owner, *args, **kwargs)
        return self.measured(super().call(context, function, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Measure the result, then compute it."""
        if operator == "%" and isinstance(left, str):
            self._prices.format(left, "%", right)
        if operator == "+" and not isinstance(left, int | float):
            self._budget.spend(self._budget.size(left) + self._budget.size(right))
        if operator == "*":
            self._prices.product(left, right)
        if operator == "**" and isinstance(left, int) and isinstance(right, int):
            check_bits(left.bit_length() * right)
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`str.format` without wide padding and without repeated large arguments."""
        inner = super().wrap_str_format(value)
        if inner is None:
            return None

        def bounded(*args: Any, **kwargs: Any) -> str:
            self._prices.format(value.__self__, "{", (args, kwargs))
            return inner(*args, **kwargs)

        return bounded

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        if len(source) > MAX_TEMPLATE:
            msg = f"it has {len(source):,} characters; expected at most {MAX_TEMPLATE:,}"
            raise LimitError(msg)
        tree = metered(super()._parse(source, name, filename))
        tree.set_environment(self)
        return tree

    # -- functions and filters of templates -------------------------------------------------------

    def _bounded(self, filter_: Callable[..., Any], check: Check | None) -> Callable[..., Any]:
        """A filter that is checked first and pays for its result; Jinja2 may pass an argument of its own first."""
        own = 1 if hasattr(filter_, "jinja_pass_arg") else 0

        @wraps(filter_)
        def bounded(*arguments: Any, **named: Any) -> Any:
            values = [self._unless_iterator(value) for value in arguments[own:]]
            if check is not None:
                check(*values, **named)
            return self.measured(filter_(*arguments[:own], *values, **named))

        return bounded

    def _unless_iterator(self, value: Any) -> Any:
        """The value; an iterator, which can be measured only once, as a list."""
        return self._listed(value) if isinstance(value, Iterator) else value

    def _listed(self, iterator: Iterator[Any]) -> list[Any]:
        values: list[Any] = []
        for value in iterator:
            values.append(value)
            self._budget.require(ELEMENT * len(values))
        return values

    def _dictionary(self, *values: Any, **named: Any) -> dict[Any, Any]:
        """Python's `dict`."""
        for each in values:
            self._prices.keys(each)
        return dict(*values, **named)

    def _namespace(self, *values: Any, **named: Any) -> Namespace:
        return _Namespace(self._dictionary(*values, **named))

    def _format(self, text: Any, *values: Any, **named: Any) -> str:
        """Jinja2's filter."""
        text = str(text)
        self._prices.format(text, "%", (values, named))
        return text % (named or values)  # type: ignore[no-any-return]

    def _to_json(self, value: Any, indent: int | None = None) -> str:
        """As `json.dumps`, piece by piece."""
        self._budget.spend(self._budget.size(value))
        pieces = json.JSONEncoder(ensure_ascii=False, indent=indent and min(indent, _MAX_INDENT)).iterencode(value)
        return "".join(map(self.measured, pieces))


class _Namespace(Namespace):
    """A namespace whose text is short: only its values change later, so that nothing else could be measured once."""

    def __repr__(self) -> str:
        return "<namespace>"


class _GenerationTag(Extension):
    """`{% generation %}` marks the assistant's words for training; here it has no effect."""

    tags = {"generation"}  # noqa: RUF012 - declared so by Jinja2

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
