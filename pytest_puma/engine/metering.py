"""Metering of a template: its syntax tree is rewritten so that loops, macros and values pay from the budget.

- Each pass through the body of a loop, macro or block calls `step` of the environment, at the price of its text.
- Expressions that make lists, texts or other large values are wrapped: `x[1:]` becomes `measured(x[1:])`. Filters and
  calls are measured by the environment.
- `a ~ b` becomes `concatenated(a, b)`.
"""

from __future__ import annotations

from typing import NoReturn

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

from pytest_puma.engine.budget import LimitError

#: The further arguments of a macro.
_FURTHER = frozenset({"varargs", "kwargs"})


def metered(template: nodes.Template) -> nodes.Template:
    """Return the syntax tree of a template with its metering calls."""
    tree: nodes.Template = _Metering().visit(template)
    return tree


class _Metering(NodeTransformer):
    """Makes bodies pay for each pass, and expressions for their values."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja2's naming
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
        """Refuse `{% autoescape %}`, which computes its argument at compile time."""
        msg = f"line {node.lineno}: autoescape is of no use in a prompt"
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

    def visit_Name(self, node: nodes.Name) -> nodes.Node:  # noqa: N802
        """Measure the further arguments of a macro, which are a list that nothing has measured."""
        return _call("measured", node, at=node) if node.name in _FURTHER and node.ctx == "load" else node

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        if node.dyn_args is not None:
            node.dyn_args = _call("unpacked", node.dyn_args, at=node)
        return node

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
