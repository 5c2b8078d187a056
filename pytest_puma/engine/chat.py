"""A model's own chat template, rendered as untrusted input.

Templates come from model files, so they run in a sandbox that limits their time and size. A prompt must not depend on
the day: `strftime_now` always returns `DATE`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import NoReturn

from jinja2 import TemplateError as JinjaError

from pytest_puma.core import EngineError, Message, Prompt
from pytest_puma.core.errors import one_line
from pytest_puma.engine.budget import LimitError
from pytest_puma.engine.sandbox import BoundedEnvironment

#: The format for models without a template. It ends without a space: most vocabularies put the space in the next word.
PLAIN = (
    "{% for message in messages %}"
    "{% if message.role == 'system' %}{{ message.content }}\n\n"
    "{% elif message.role == 'user' %}User: {{ message.content }}\n\n"
    "{% else %}Assistant: {{ message.content }}\n\n{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
#: Starts of a turn that the model invents.
_PLAIN_STOPS = ("\nUser:", "\nAssistant:")
DATE = datetime(2025, 1, 1, tzinfo=timezone.utc)
_PROBE = "puma-probe"
#: Private-use characters of Unicode, enough to find some that no prompt contains.
_PRIVATE = range(0xF0000, 0xFFFFE)


class ChatFormat:
    """Renders the messages of a prompt in the format that the model was trained on.

    `stops` are strings that end a reply; `joint` separates the prompt from the assistant's words. Both are
    empty if the model has a template, which marks its turns by tokens. Prompts without `chat` use neither these nor
    the template.
    """

    def __init__(self, template: str | None, *, bos: str, eos: str, thinking: bool) -> None:
        self._special = {"bos_token": bos, "eos_token": eos}
        self._thinking = thinking
        plain = not template or template == PLAIN
        self.stops = _PLAIN_STOPS if plain else ()
        self.joint = " " if plain else ""
        self._source = template or PLAIN
        self._environment = _environment()
        try:
            self._template = self._environment.from_string(self._source)
        except Exception as error:
            # Python's errors too: from the code that Jinja2 compiles a template to, and from what it computes.
            msg = f"the model's chat template cannot be used: {_reason(error)}"
            raise EngineError(msg) from error
        self._system_role = self._takes_system()

    def render(self, prompt: Prompt) -> str:
        """Return the prompt's text up to where the model continues, including the prefill."""
        if not prompt.chat:
            return f"{''.join(map(as_text, prompt.messages))}{prompt.prefill}"
        text = self._fill(prompt.messages, answer=True)
        if not self._thinking:
            text = _close_thinking(text)
        return f"{text}{self.joint_of(prompt)}{prompt.prefill}" if prompt.prefill else text

    def joint_of(self, prompt: Prompt) -> str:
        """Return the text between this prompt and the assistant's words."""
        return self.joint if prompt.chat else ""

    def pieces(self, prompt: Prompt, untrusted: re.Pattern[str]) -> list[tuple[str, bool]]:
        """Return the rendered prompt in pieces: (text, True), or (match of `untrusted` in a message, False).

        The template gets a private-use character in place of each match: it may cut, strip or print the contents.
        """
        texts = [message.content for message in prompt.messages]
        spellings = sorted({spelling for text in texts for spelling in untrusted.findall(text)})
        used = {*self._source, *prompt.prefill, *"".join(texts)}
        marks = dict(zip(spellings, (mark for mark in map(chr, _PRIVATE) if mark not in used), strict=False))
        messages = tuple(
            replace(message, content=untrusted.sub(lambda match: marks[match[0]], message.content))
            for message in prompt.messages
        )
        rendered = self.render(replace(prompt, messages=messages))
        spelled = {mark: spelling for spelling, mark in marks.items()}
        parts: list[str] = re.split(f"([{''.join(spelled)}])", rendered) if spelled else [rendered]
        return [(spelled.get(part, part), part not in spelled) for part in parts if part]

    def answered(self, answer: str) -> str:
        """Return a short chat that ends with this answer and the template's end of turn."""
        messages = (Message(role="user", content=_PROBE), Message(role="assistant", content=answer))
        return self._fill(messages, answer=False)

    def _fill(self, messages: Sequence[Message], *, answer: bool) -> str:
        if not self._system_role:
            messages = _without_system(messages)
        try:
            with self._environment.budget(lambda: sum(len(message.content) for message in messages)):
                # Variables that templates test with `is defined` (tools, documents) must stay undefined.
                return self._template.render(
                    messages=[{"role": message.role, "content": message.content} for message in messages],
                    add_generation_prompt=answer,
                    enable_thinking=self._thinking,
                    **self._special,
                )
        except LimitError as error:
            msg = f"the model's chat template cannot be used: {error.message}"
            raise EngineError(msg) from error
        except Exception as error:
            msg = f"the model's chat template refuses roles {[m.role for m in messages]}: {_reason(error)}"
            raise EngineError(msg) from error

    def _takes_system(self) -> bool:
        """Whether the template prints a system message. Some raise an error, some drop it silently."""
        self._system_role = True
        messages = (Message(role="system", content=_PROBE), Message(role="user", content="?"))
        try:
            return _PROBE in self._fill(messages, answer=True)
        except EngineError as error:
            if isinstance(error.__cause__, LimitError):
                raise
            return False


def as_text(message: Message) -> str:
    """Return a message of a prompt without chat: a line break follows a user's words, a blank line any other ones."""
    return f"{message.content}\n" if message.role == "user" else f"{message.content}\n\n"


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """Move the system message to the start of the first user message."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    if not system or not rest:
        return rest
    first = Message(role=rest[0].role, content=f"{system}\n\n{rest[0].content}")
    return [first, *rest[1:]]


def _close_thinking(text: str) -> str:
    """Close the model's thoughts where a template opens them, so that the answer begins after them."""
    opened = text.rfind("<think>")
    if opened < 0 or text.find("</think>", opened) >= 0 or text[opened + len("<think>") :].strip():
        return text
    return f"{text.rstrip()}\n\n</think>\n\n"


def _environment() -> BoundedEnvironment:
    environment = BoundedEnvironment()
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = DATE.strftime
    return environment


def _raise(message: object) -> NoReturn:
    raise JinjaError(str(message))


def _reason(error: BaseException) -> str:
    """The message of an error of the template, Jinja2 or Python, in one line."""
    text = str(error.message if isinstance(error, JinjaError) else error) or type(error).__name__
    return one_line(text)
