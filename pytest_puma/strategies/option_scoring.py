"""The log-probability of every valid label as the whole reply: no text is generated, so none can be unreadable."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_puma.core import Answer, Conversation, ask
from pytest_puma.strategies.task import Task


def option_scoring(task: Task) -> Conversation:
    """Take the most probable label, the mode for a regression too (its mean follows from the probabilities)."""
    labels = task.scenario.valid_labels()
    response = yield from ask(task.score(task.prompt(), labels))
    if response.finish == "overflow":
        return Answer(value=None, responses=(response,))
    probabilities = dict(zip(labels, softmax(response.logprobs), strict=True))
    return Answer(
        value=max(probabilities, key=probabilities.__getitem__), responses=(response,), probabilities=probabilities
    )


def softmax(logprobs: Sequence[float]) -> list[float]:
    """Probabilities that add up to 1, from logarithms of any size."""
    largest = max(logprobs)
    weights = [math.exp(value - largest) for value in logprobs]
    total = sum(weights)
    return [weight / total for weight in weights]
