"""A model's own chat template, rendered as untrusted input.

Templates come out of model files, so they run in Jinja2's immutable sandbox. What a prompt says must not
depend on the day: `strftime_now` always tells `DATE`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, NoReturn

from jinja2 import TemplateError as JinjaError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pytest_puma.core import EngineError, Message, Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2.nodes import Node
    from jinja2.parser import Parser

#: The format for models that bring none. It ends without a blank: most vocabularies put the blank into the next word.
PLAIN = (
    "{% for message in messages %}"
    "{% if message.role == 'system' %}{{ message.content }}\n\n"
    "{% elif message.role == 'user' %}User: {{ message.content }}\n\n"
    "{% else %}Assistant: {{ message.content }}\n\n{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
#: Where a turn begins that the model made up.
_PLAIN_STOPS = ("\nUser:", "\nAssistant:")
DATE = datetime(2025, 1, 1, tzinfo=timezone.utc)
#: What a template's own mistakes raise.
_FAULTS = (JinjaError, ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
_PROBE = "puma-probe"
#: A private character of Unicode that no template and no prefill holds.
_MARK = "\ue0f7"


class ChatFormat:
    """Renders the messages of a prompt the way the model was trained to read them.

    `stops` are strings that end a reply; `joint` stands between the prompt and the assistant's words. Both are
    empty where the model has a template, which marks its turns by tokens.
    """

    def __init__(self, template: str | None, *, bos: str, eos: str, thinking: bool) -> None:
        self._special = {"bos_token": bos, "eos_token": eos}
        self._thinking = thinking
        plain = not template or template == PLAIN
        self.stops = _PLAIN_STOPS if plain else ()
        self.joint = " " if plain else ""
        try:
            self._template = _environment().from_string(template or PLAIN)
            self._system_role = self._takes_system()
        except JinjaError as error:
            msg = f"the model's chat template cannot be used: {error}"
            raise EngineError(msg) from error

    def render(self, prompt: Prompt) -> str:
        """The prompt's text up to where the model goes on, its prefill included."""
        text = self._fill(prompt.messages, answer=True)
        if not self._thinking:
            text = _close_thinking(text)
        return f"{text}{self.joint}{prompt.prefill}" if prompt.prefill else text

    def pieces(self, prompt: Prompt) -> list[tuple[str, bool]]:
        """The rendered prompt cut into the template's own text (True) and the messages' contents (False)."""
        contents = [message.content for message in prompt.messages]
        marked = tuple(
            Message(role=message.role, content=f"{_MARK}{number}{_MARK}")
            for number, message in enumerate(prompt.messages)
        )
        parts = self.render(replace(prompt, messages=marked)).split(_MARK)
        return [(contents[int(part)], False) if odd % 2 else (part, True) for odd, part in enumerate(parts) if part]

    def answered(self, answer: str) -> str:
        """A short chat that ends with this answer, closed the way the template closes a turn."""
        messages = (Message(role="user", content=_PROBE), Message(role="assistant", content=answer))
        return self._fill(messages, answer=False)

    def _fill(self, messages: Sequence[Message], *, answer: bool) -> str:
        if not self._system_role:
            messages = _without_system(messages)
        try:
            # Variables that templates test with `is defined` (tools, documents) must stay undefined.
            return self._template.render(
                messages=[{"role": message.role, "content": message.content} for message in messages],
                add_generation_prompt=answer,
                enable_thinking=self._thinking,
                **self._special,
            )
        except _FAULTS as error:
            msg = f"the model's chat template refuses roles {[m.role for m in messages]}: {error}"
            raise EngineError(msg) from error

    def _takes_system(self) -> bool:
        """Some templates refuse a system message, some drop it without a word."""
        self._system_role = True
        messages = (Message(role="system", content=_PROBE), Message(role="user", content="?"))
        try:
            return _PROBE in self._fill(messages, answer=True)
        except EngineError:
            return False


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """The system message becomes the beginning of the first user message."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    if not system or not rest:
        return rest
    first = Message(role=rest[0].role, content=f"{system}\n\n{rest[0].content}")
    return [first, *rest[1:]]


def _close_thinking(text: str) -> str:
    """Some templates open the model's thoughts; an answer without thinking has to begin behind them."""
    opened = text.rfind("<think>")
    if opened < 0 or text.find("</think>", opened) >= 0 or text[opened + len("<think>") :].strip():
        return text
    return f"{text.rstrip()}\n\n</think>\n\n"


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _GenerationTag]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = DATE.strftime
    return environment


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise(message: str) -> NoReturn:
    raise JinjaError(message)


class _GenerationTag(Extension):
    """`{% generation %}` marks the assistant's words for training; here it means nothing."""

    tags = {"generation"}  # noqa: RUF012 - declared so by Jinja2

    def parse(self, parser: Parser) -> Node | list[Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
