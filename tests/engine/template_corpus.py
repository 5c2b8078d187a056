"""The chat templates of llama.cpp's collection, and plain Jinja2 with the settings of transformers beside ours."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pytest_puma.engine.chat.template import DATE
from tools.chat_templates import folder

BOS, EOS = "<bos>", "<eos>"


def corpus() -> dict[str, str]:
    """The templates by name; none if they were not fetched."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder().glob("*.jinja"))}


class Reference:
    """A template in plain Jinja2; `fill` returns the text, or the error."""

    def __init__(self, source: str) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _Generation]
        )
        environment.filters["tojson"] = _to_json
        environment.globals |= {"raise_exception": _refuse, "strftime_now": _now}
        self._template = environment.from_string(source)

    def fill(self, turns: list[dict[str, Any]], *, answer: bool, variables: dict[str, Any]) -> str | None:
        """The text; None if the template refuses the chat."""
        try:
            return self._template.render(
                messages=turns, add_generation_prompt=answer, bos_token=BOS, eos_token=EOS, **variables
            )
        except Exception:  # noqa: BLE001 - of the template
            return None


def _to_json(
    value: Any,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def _now(form: str) -> str:
    return datetime(DATE.year, DATE.month, DATE.day, tzinfo=DATE.tzinfo).strftime(form)


class _Generation(Extension):
    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
