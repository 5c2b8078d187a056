"""The blocks of a template: turns of the conversation, and parts of them.

    {% extends "_base.jinja" %}
    {% block system %}You triage issues.{% endblock %}      a turn
    {% block notes %}Reply with one word.{% endblock %}     a part, if _base.jinja has this block

A block is a part if it lies in another block, if an extended template has it, or if a template calls it as in
`self.notes()`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from jinja2 import nodes

from pytest_puma.core import TemplateError


def refuse_empty(tree: nodes.Template, source: str, path: Path) -> None:
    """Raise an error for a file without any text or statement."""
    if all(isinstance(node, nodes.Output) and not any(_visible(node)) for node in tree.body):
        fault = "has only comments" if source.strip() else "is empty"
        msg = f"{path}: the file {fault}; write the prompt into it (a file without blocks is the user's turn)"
        raise TemplateError(msg)


def refuse_stray_text(tree: nodes.Template, path: Path) -> None:
    """Raise an error for text outside of the blocks, which belongs to no turn."""
    if tree.find(nodes.Block) is None and tree.find(nodes.Extends) is None:
        return
    for text in (text for node in tree.body if isinstance(node, nodes.Output) for text in _visible(node)):
        msg = f"{path}, line {text.lineno}: text outside of the blocks, which belongs to no turn; move it into one"
        raise TemplateError(msg)


def has_only_blocks(tree: nodes.Template) -> bool:
    """Whether nothing stands beside the blocks that they could need, as an import or an assignment."""
    return tree.find(nodes.Block) is not None and all(
        isinstance(node, (nodes.Block, nodes.Output)) for node in tree.body
    )


def turn_blocks(trees: Mapping[str, nodes.Template], name: str) -> dict[str, int]:
    """Return the line of each block of a template that is no part of a turn, so that it must be one.

    `trees` are those of the template and of all that it uses, by name.
    """
    blocks = (block for parent in _parents(trees, name) for block in trees[parent].find_all(nodes.Block))
    inherited = {block.name for block in blocks}
    attributes = (node for tree in trees.values() for node in tree.find_all(nodes.Getattr))
    called = {node.attr for node in attributes if isinstance(node.node, nodes.Name) and node.node.name == "self"}
    outermost = {block.name: block.lineno for block in _outermost(trees[name])}
    return {block: line for block, line in outermost.items() if block not in inherited | called}


def _visible(output: nodes.Output) -> Iterator[nodes.Expr]:
    """The parts of an output, without blank text."""
    return (part for part in output.nodes if not isinstance(part, nodes.TemplateData) or part.data.strip())


def _parents(trees: Mapping[str, nodes.Template], name: str) -> set[str]:
    """The names of all templates that one extends, also through others."""
    ancestors: set[str] = set()
    waiting = [name]
    while waiting:
        extended = (node.template for node in trees[waiting.pop()].find_all(nodes.Extends))
        parents = {parent.value for parent in extended if isinstance(parent, nodes.Const)} & set(trees)
        waiting += parents - ancestors
        ancestors |= parents
    return ancestors


def _outermost(node: nodes.Node) -> Iterator[nodes.Block]:
    """The blocks that lie in no other one."""
    for child in node.iter_child_nodes():
        if isinstance(child, nodes.Block):
            yield child
        else:
            yield from _outermost(child)
