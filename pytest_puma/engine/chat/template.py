"""A model's own chat template, rendered as untrusted input.

A prompt must not depend on the day: `strftime_now` always returns `DATE`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, NoReturn, TypeAlias

from jinja2 import TemplateError as JinjaError
from jinja2 import meta

from pytest_puma.core import EngineError
from pytest_puma.engine.chat.plain import NAMED, PLAIN
from pytest_puma.engine.sandbox import SandboxedEnvironment
from pytest_puma.errors import one_line

#: A message as templates read it: `role`, `content`, perhaps the thoughts before it.
Turn: TypeAlias = Mapping[str, Any]

DATE = datetime(2025, 1, 1, tzinfo=timezone.utc)
#: Characters of a prompt, and further ones for each character of its messages. No context takes as many.
_CHARACTERS, _PER_CHARACTER = 10_000_000, 100


class ChatTemplateError(EngineError):
    """A chat template that cannot be used, or refuses a chat."""


class ChatTemplate:
    """A compiled template with the texts of the tokens that it may print.

    `source`: the Jinja2 text, that of the plain format if there is none. `names`: the variables that it reads.
    """

    def __init__(self, source: str | None, *, bos: str, eos: str) -> None:
        self.source = NAMED.get(source.strip().lower(), source) if source else PLAIN
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
