"""One request, answered with a bare label or number: zero-shot, few-shot, rcoif, contextual anchoring."""

from __future__ import annotations

from pytest_puma.core import Answer, Conversation, ask
from pytest_puma.strategies.task import Task

MAX_TOKENS = 16


def direct(task: Task) -> Conversation:
    """Ask once and parse the whole reply."""
    response = yield from ask(task.generate(task.prompt()))
    return Answer(value=task.read(response.text), responses=(response,))
