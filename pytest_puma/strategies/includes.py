"""Includes of a template whose files are plain text: the text stands in their place before any rendering.

{% include "_system.jinja" %}      a file without any expression or statement: its text
{% include "_issue.jinja" %}       a file with `{{ title }}`: rendered each time
"""

from __future__ import annotations

from collections.abc import Mapping

from jinja2 import nodes
from jinja2.visitor import NodeTransformer


def with_texts(trees: Mapping[str, nodes.Template], name: str) -> nodes.Template:
    """Return the tree of a template with the texts that it includes; `trees` are those of all that it uses, by name.

    Jinja2 makes a context for each include, which takes most of the time of a short prompt.
    """
    texts = {included: _text(tree) for included, tree in trees.items() if _is_text(tree)}
    tree: nodes.Template = _Texts(texts).visit(trees[name])
    return tree


class _Texts(NodeTransformer):
    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def visit_Include(self, node: nodes.Include) -> nodes.Node:  # noqa: N802 - as Jinja2 calls it
        """The text of an include, or the include itself."""
        included = node.template
        if not isinstance(included, nodes.Const) or included.value not in self._texts:
            return node
        text = nodes.TemplateData(self._texts[included.value], lineno=node.lineno)
        return nodes.Output([text], lineno=node.lineno)


def _is_text(tree: nodes.Template) -> bool:
    outputs = [node for node in tree.body if isinstance(node, nodes.Output)]
    parts = [part for output in outputs for part in output.nodes]
    return len(outputs) == len(tree.body) and all(isinstance(part, nodes.TemplateData) for part in parts)


def _text(tree: nodes.Template) -> str:
    return "".join(text.data for text in tree.find_all(nodes.TemplateData))
