"""One request, answered with a short reasoning that ends in an `Answer:` line; only the final answer is parsed."""

from __future__ import annotations

from pytest_puma.core import Answer, Conversation, ask
from pytest_puma.strategies.task import Task

MAX_TOKENS = 256


def chain_of_thought(task: Task) -> Conversation:
    """Ask once and parse the final answer, so that a number or label in the reasoning is not taken for the answer."""
    response = yield from ask(task.generate(task.prompt()))
    return Answer(value=task.read_final(response), responses=(response,))
