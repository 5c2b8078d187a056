"""Jinja2's immutable sandbox for the templates of model files, bounded in time and in the size of what they make.

Each rendering has a budget of characters. It pays for the text it prints, for each pass of a loop, for each call of a
macro, and for what filters, calls and operators return; what could grow at once without bound (`'a' * 3000000000`) is
measured before it is made. What no chat template needs and what would need a rule of its own is taken away. A second
limit on the processor time of the thread ends what is slow without making anything.

Nothing is computed when a template is compiled: Jinja2 would evaluate constant expressions there, without a budget.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from jinja2 import TemplateError, nodes, pass_context
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

if TYPE_CHECKING:
    from jinja2.parser import Parser
    from jinja2.runtime import Context

#: Characters of a template; those in use have up to 30,000.
LONGEST_TEMPLATE = 1 << 16
#: Characters of budget for a rendering, and for each character of its messages.
BUDGET, BUDGET_PER_CHARACTER = 10_000_000, 100
#: Processor seconds of a rendering; usual ones take less than a thousandth.
SECONDS = 5.0
#: What an element of a list costs, and a pass of a loop or a call, in characters.
_ELEMENT, _STEP = 50, 100
#: Bits of the largest whole number.
_BITS = 1 << 16
_MOST_INDENT = 16
#: A width of four digits or one that comes from an argument, in `'%9999d' % x` and `'{:9999}'.format(x)`.
_WIDE = re.compile(r"\d{4}|\*|\{[^{}]*\{")
_NO_METHODS = frozenset("center ljust rjust zfill expandtabs translate encode format_map to_bytes".split())  # noqa: SIM905
_NO_FILTERS = "batch center pprint random round slice striptags sum urlize wordwrap xmlattr".split()  # noqa: SIM905


class LimitError(TemplateError):
    """A template takes more than it may."""


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Renders inside `budget`; outside of one nothing can be rendered."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[loopcontrols, _GenerationTag],
            optimized=False,
            # One that takes the context keeps Jinja2 from computing the output while it compiles.
            finalize=pass_context(lambda _, value: self.measured(value)),
        )
        self._budget = _Budget()
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

    @contextmanager
    def budget(self, characters: int) -> Iterator[None]:
        """Let this thread render one template about messages of so many characters; a `LimitError` ends it."""
        self._budget.left = BUDGET + BUDGET_PER_CHARACTER * characters
        self._budget.until = time.thread_time() + SECONDS
        try:
            yield
        finally:
            self._budget.left = 0

    # -- what the rewritten template calls --------------------------------------------------------

    def step(self, characters: int) -> str:
        """Pay for a pass through a body that prints at least this much text."""
        self._spend(_STEP + characters)
        return ""

    def measured(self, value: Any) -> Any:
        """Pay for a value; what is computed while it is read becomes a list."""
        if isinstance(value, Iterator):
            value = list(islice(value, self._budget.left // _ELEMENT + 1))
        self._spend(self._size(value))
        return value

    def concatenated(self, *values: Any) -> str:
        """The texts of values in one: Jinja2's operator `~`."""
        self._spend(sum(map(self._size, values)))
        return "".join(map(str, values))

    # -- what Jinja2 asks its sandbox -------------------------------------------------------------

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Methods that pad or expand by a number are taken away."""
        return attr not in _NO_METHODS and super().is_safe_attribute(obj, attr, value)

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Pay for each call, and for what it returns."""
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if owner is self:
            return function(*args)
        self._spend(_STEP)
        if isinstance(owner, str) and name == "replace":
            self._check_replace(owner, *args, **kwargs)
        if isinstance(owner, str) and name == "join":
            self._check_join(*args, owner, **kwargs)
        return self.measured(super().call(context, function, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Measure what would be made, then make it."""
        if operator == "%" and isinstance(left, str):
            self._check_format(left, "%", right)
        if operator == "+" and not isinstance(left, int | float):
            self._spend(self._size(left) + self._size(right))
        if operator == "*":
            self._check_product(left, right)
        if operator == "**" and isinstance(left, int) and isinstance(right, int):
            self._check_bits(left.bit_length() * right)
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`str.format`, which may neither pad far nor repeat large arguments."""
        inner = super().wrap_str_format(value)
        if inner is None:
            return None

        def bounded(*args: Any, **kwargs: Any) -> str:
            self._check_format(value.__self__, "{", (args, kwargs))
            return inner(*args, **kwargs)

        return bounded

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        if len(source) > LONGEST_TEMPLATE:
            msg = f"it has {len(source):,} characters; expected at most {LONGEST_TEMPLATE:,}"
            raise LimitError(msg)
        tree: nodes.Template = _Metered().visit(super()._parse(source, name, filename))
        tree.set_environment(self)
        return tree

    # -- the budget -------------------------------------------------------------------------------

    def _spend(self, characters: int) -> None:
        self._budget.left -= characters
        if self._budget.left < 0:
            msg = f"it makes too much text, or loops too often (limit: {BUDGET:,} characters)"
            raise LimitError(msg)
        if time.thread_time() > self._budget.until:
            msg = f"it takes more than {SECONDS:.0f} seconds"
            raise LimitError(msg)

    def _size(self, value: Any) -> int:
        """Characters of a value as text, about; counting ends where the budget does."""
        size, values = 0, [value]
        while values and size <= self._budget.left:
            each = values.pop()
            if isinstance(each, str | bytes):
                size += len(each)
            elif isinstance(each, Namespace):
                values.append(each._Namespace__attrs)  # noqa: SLF001 - it has no other name
            elif isinstance(each, Mapping):
                size += _ELEMENT * len(each)
                values += [*each.keys(), *each.values()]
            elif isinstance(each, list | tuple | AbstractSet | ValuesView):
                size += _ELEMENT * len(each)
                values += each
            elif isinstance(each, range):
                size += _ELEMENT * len(each)
            else:
                size += each.bit_length() // 3 + 1 if isinstance(each, int) else 1
        return size

    def _check_replace(self, text: Any, old: Any, new: Any, *_: Any, **__: Any) -> None:
        self._spend(str(text).count(str(old)) * self._size(new))

    def _check_join(self, values: Any, d: Any = "", *_: Any, **__: Any) -> None:
        """`d` is what the filter calls the text between the values."""
        parts = len(values) if hasattr(values, "__len__") else 1
        self._spend(parts * self._size(d) + self._size(values))

    def _check_indent(self, text: Any, width: Any = 4, *_: Any, **__: Any) -> None:
        self._spend((str(text).count("\n") + 1) * (width if isinstance(width, int) else self._size(width)))

    def _check_product(self, left: Any, right: Any) -> None:
        if isinstance(left, int) and isinstance(right, int):
            self._check_bits(left.bit_length() + right.bit_length())
        for value, times in ((left, right), (right, left)):
            if isinstance(times, int) and not isinstance(value, int | float):
                self._spend(self._size(value) * max(0, times))

    def _check_bits(self, bits: int) -> None:
        if bits > _BITS:
            msg = f"it computes a whole number of more than {_BITS:,} bits"
            raise LimitError(msg)

    def _check_format(self, text: str, mark: str, values: Any) -> None:
        if _WIDE.search(text):
            msg = f"it pads by more than three digits, or by an argument, in {text[:40]!r}"
            raise LimitError(msg)
        self._spend(len(text) + text.count(mark) * self._size(values))

    def _format(self, text: Any, *values: Any, **named: Any) -> str:
        """Jinja2's filter."""
        text = str(text)
        self._check_format(text, "%", (values, named))
        return text % (named or values)  # type: ignore[no-any-return]

    def _to_json(self, value: Any, indent: int | None = None) -> str:
        """As `json.dumps`, piece by piece."""
        self._spend(self._size(value))
        pieces = json.JSONEncoder(ensure_ascii=False, indent=indent and min(indent, _MOST_INDENT)).iterencode(value)
        return "".join(map(self.measured, pieces))


class _Budget(threading.local):
    """What a thread may still spend: characters, and processor time up to a point."""

    left = 0
    until = 0.0


class _Metered(NodeTransformer):
    """Has a template pay: bodies for each pass, expressions for their values."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - so named by Jinja2
        self._charge(node)
        if node.test is not None:
            node.test = nodes.Or(_call("step", nodes.Const(0), at=node), node.test, lineno=node.lineno)
        return node

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:  # noqa: N802
        return self._charge(node)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:  # noqa: N802
        return self._charge(node)

    def visit_Block(self, node: nodes.Block) -> nodes.Node:  # noqa: N802
        return self._charge(node)

    def visit_ScopedEvalContextModifier(self, node: nodes.ScopedEvalContextModifier) -> NoReturn:  # noqa: N802
        """`{% autoescape %}` computes its argument when it is compiled."""
        msg = f"line {node.lineno}: autoescape is of no use in a chat template"
        raise LimitError(msg)

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _call("concatenated", *node.nodes, at=node)

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.expr = _call("measured", node.expr, at=node)
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802
        return self._measured(node) if isinstance(node.arg, nodes.Slice) else self.generic_visit(node)

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802
        return self._measured(node)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:  # noqa: N802
        return self._measured(node)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802
        return self._measured(node) if node.ctx == "load" else node

    def visit_Filter(self, node: nodes.Filter) -> nodes.Node:  # noqa: N802
        """Of `{% filter upper %}` only the arguments: it has no value of its own."""
        subject: nodes.Node | None = node
        while isinstance(subject, nodes.Filter):
            subject = subject.node
        return self.generic_visit(node) if subject is None else self._measured(node)

    def _measured(self, node: nodes.Expr) -> nodes.Node:
        self.generic_visit(node)
        return _call("measured", node, at=node)

    def _charge(self, node: nodes.For | nodes.Macro | nodes.CallBlock | nodes.Block) -> nodes.Node:
        """Put a step in front of the body, at the price of the text in it."""
        text = sum(len(each.data) for each in node.find_all(nodes.TemplateData))
        self.generic_visit(node)
        step = _call("step", nodes.Const(text), at=node)
        node.body.insert(0, nodes.ExprStmt(step, lineno=node.lineno))
        return node


def _call(name: str, *values: nodes.Expr, at: nodes.Node) -> nodes.Call:
    """A call of the environment's own method."""
    return nodes.Call(nodes.EnvironmentAttribute(name), list(values), [], None, None, lineno=at.lineno)


def _checked(filter_: Callable[..., Any], check: Callable[..., None]) -> Callable[..., Any]:
    """A filter behind a check of its arguments; Jinja2 puts its own in front where the filter asks for it."""
    own = 1 if hasattr(filter_, "jinja_pass_arg") else 0

    @wraps(filter_)
    def bounded(*arguments: Any, **named: Any) -> Any:
        check(*arguments[own:], **named)
        return filter_(*arguments, **named)

    return bounded


class _GenerationTag(Extension):
    """`{% generation %}` marks the assistant's words for training; here it means nothing."""

    tags = {"generation"}  # noqa: RUF012 - declared so by Jinja2

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
