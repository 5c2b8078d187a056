"""Requests whose reply is the answer alone: thoughts are closed before it, as before a scored continuation."""

from __future__ import annotations

import pytest

from pytest_puma.core import Prompt
from pytest_puma.core.backend import Thoughts
from pytest_puma.engine.engine import Engine
from pytest_puma.testing import ScriptedBackend
from tests.engine.ask import generate


class Thinking(ScriptedBackend):
    """A model whose prompts open thoughts, unless they go up to the answer."""

    def encode(self, prompt: Prompt, continuation: str = "", *, answer: bool = False) -> list[int]:
        self.closed = answer
        return super().encode(prompt, continuation)

    def thoughts(self, prompt: Prompt) -> Thoughts:  # noqa: ARG002 - as in any chat
        return Thoughts(open="<think>", close="</think>", begun=True)


@pytest.mark.parametrize(("thinks", "text"), [(True, "<think>A"), (False, "A")])
def test_a_reply_that_does_not_think_begins_with_the_answer(text: str, *, thinks: bool) -> None:
    backend = Thinking({}, default="A")
    (response,) = Engine(backend).run([generate("Which?", thinks=thinks, grammar='root ::= "A" | "B"')])
    assert (response.text, backend.closed) == (text, not thinks)
