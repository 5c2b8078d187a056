"""A model's own chat template, rendered as untrusted input, and the format that stands for a missing one.

A prompt must not depend on the day: `strftime_now` always returns `DATE`. There is no standard for the variables by
which a template lets a model think, or not: the names and values here are those of published templates. A template
gets the variables that it reads, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, NoReturn, TypeAlias

from jinja2 import TemplateError as JinjaError
from jinja2 import meta

from pytest_puma.core import EngineError, Message
from pytest_puma.engine.sandbox import SandboxedEnvironment
from pytest_puma.phrases import one_line

#: A message as templates read it: `role`, `content`, perhaps the thoughts before it.
Turn: TypeAlias = Mapping[str, Any]

#: The format for models without a template. It ends without a space: most vocabularies put the space in the next word.
PLAIN = (
    "{% for message in messages %}"
    "{% if message.role == 'system' %}{{ message.content }}\n\n"
    "{% elif message.role == 'user' %}User: {{ message.content }}\n\n"
    "{% else %}Assistant: {{ message.content }}\n\n{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
#: Starts of a turn that the model invents in the plain format.
PLAIN_STOPS = ("\nUser:", "\nAssistant:")
#: Formats of files whose template is only a name of llama.cpp's; converters wrote no other one.
NAMED = {
    "chatml": (
        "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
}
DATE = datetime(2025, 1, 1, tzinfo=timezone.utc)
#: Characters of a prompt, and further ones for each character of its messages. No context takes as many.
_CHARACTERS, _PER_CHARACTER = 10_000_000, 100

#: Names of a switch, with the values for off and for on. None leaves the variable undefined.
_SWITCHES: Mapping[str, tuple[Any, Any]] = {
    "enable_thinking": (False, True),
    "thinking": (False, True),
    "thinking_mode": ("disabled", "enabled"),
    "thinking_budget": (0, None),
}
#: Names for the amount of thinking.
_EFFORTS = ("reasoning_effort", "thinking_effort", "reasoning_strength")
#: Values that mean no thoughts, or few; a template spells those that it knows.
_LEAST = ("none", "no_think", "minimal", "low")


class ChatTemplateError(EngineError):
    """A chat template that cannot be used, or refuses a chat."""


class ChatTemplate:
    """A compiled template with the texts of the tokens that it may print.

    `source`: the Jinja2 text, that of the plain format if there is none. `names`: the variables that it reads. `stops`:
    strings that end a reply.
    """

    def __init__(self, source: str | None, *, bos: str, eos: str) -> None:
        self.source = NAMED.get(source.strip().lower(), source) if source else PLAIN
        self.stops = PLAIN_STOPS if self.source == PLAIN else ()
        self._special = {"bos_token": bos, "eos_token": eos}
        environment = SandboxedEnvironment()
        environment.globals |= {"raise_exception": _raise, "strftime_now": DATE.strftime}
        try:
            self.names = frozenset(meta.find_undeclared_variables(environment.parse(self.source)))
            self._compiled = environment.from_string(self.source)
        except Exception as error:
            # Python's errors too: from the code that Jinja2 compiles a template to, and from what it computes.
            msg = f"the model's chat template cannot be used: {_reason(error)}"
            raise ChatTemplateError(msg) from error

    def fill(self, turns: Sequence[Turn], *, answer: bool, variables: Mapping[str, Any]) -> str:
        """Return the chat as text; with `answer`, up to where the model continues.

        Variables that templates test with `is defined` (tools, documents) stay undefined. A `ChatTemplateError` names
        the fault of a template.
        """
        left = _CHARACTERS + _PER_CHARACTER * sum(len(str(turn["content"])) for turn in turns)
        pieces: list[str] = []
        try:
            for piece in self._compiled.generate(
                messages=turns, add_generation_prompt=answer, **variables, **self._special
            ):
                pieces.append(piece)
                left -= len(piece)
                if left < 0:
                    _raise(f"it makes more than {_CHARACTERS:,} characters")
        except Exception as error:
            msg = f"the model's chat template refuses roles {[turn['role'] for turn in turns]}: {_reason(error)}"
            raise ChatTemplateError(msg) from error
        return "".join(pieces)


def _raise(message: object) -> NoReturn:
    raise JinjaError(str(message))


def _reason(error: BaseException) -> str:
    """The message of an error of the template, Jinja2 or Python, in one line."""
    text = str(error.message if isinstance(error, JinjaError) else error) or type(error).__name__
    return one_line(text)


def switches(template: ChatTemplate, *, thinking: bool, effort: str | None) -> dict[str, Any]:
    """Return the variables for a template, of those that it reads; `effort` is the user's own word for the amount."""
    values = {name: pair[thinking] for name, pair in _SWITCHES.items() if name in template.names}
    values |= {name: effort or _effort(template.source, thinking=thinking) for name in efforts(template.names)}
    return {name: value for name, value in values.items() if value is not None}


def efforts(names: frozenset[str]) -> list[str]:
    """Return the names for the amount of thinking that a template reads."""
    return [name for name in _EFFORTS if name in names]


def _effort(source: str, *, thinking: bool) -> str | None:
    """The value without a user's word: the least that the template knows; with thoughts, its own default.

    A template whose default is no thoughts spells `no_think`; it gets the most.
    """
    known = [value for value in _LEAST if f'"{value}"' in source or f"'{value}'" in source]
    if thinking:
        return "high" if "no_think" in known else None
    return known[0] if known else _LEAST[-1]


def as_text(message: Message) -> str:
    """Return a message of a prompt without chat: a line break follows a user's words, a blank line any other ones."""
    return f"{message.content}\n" if message.role == "user" else f"{message.content}\n\n"
