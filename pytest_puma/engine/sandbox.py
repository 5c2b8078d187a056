"""Jinja2's immutable sandbox for the chat templates of model files and for prompts, with the settings of transformers.

A template reaches neither files nor Python, and changes no value. Nothing limits its time and its memory here: the
first rendering of a model's template is done by the smoke test (`native/smoke_test.py`), in a process with limits.
"""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

if TYPE_CHECKING:
    from jinja2.parser import Parser


class SandboxedEnvironment(ImmutableSandboxedEnvironment):
    """`options` are further ones of Jinja2. A prompt is the same each time: there are no random functions."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            **options,
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[loopcontrols, _GenerationTag],
            # A file that is edited during a run changes no prompt of it.
            auto_reload=False,
            # All included templates in a plain dictionary: they are few, and each prompt looks some up.
            cache_size=-1,
        )
        del self.filters["random"], self.globals["lipsum"]
        self.filters["tojson"] = _to_json

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return the globals of a template as one dictionary; a chain of two takes half the time of a short prompt."""
        return {**self.globals, **(d or {})}


def _to_json(
    value: Any,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002 - the parameters of transformers
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    """As `json.dumps`; Jinja2's own filter escapes characters of HTML."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class _GenerationTag(Extension):
    """`{% generation %}` marks the assistant's words for training; here it has no effect."""

    tags = {"generation"}  # noqa: RUF012 - declared so by Jinja2

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
