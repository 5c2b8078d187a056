"""The log-probability of every valid label as the whole reply: no text is generated, so there are no parse failures."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_puma.core import Answer, Conversation, ask
from pytest_puma.strategies.task import Task


def option_scoring(task: Task) -> Conversation:
    """Answer with the label of the smallest expected loss."""
    labels = task.scenario.valid_labels()
    response = yield from ask(task.score(task.prompt(), labels))
    if response.finish == "overflow":
        return Answer(value=None, responses=(response,))
    probabilities = dict(zip(labels, softmax(response.logprobs), strict=True))
    return Answer(value=task.scenario.kind.choose(probabilities), responses=(response,), probabilities=probabilities)


def softmax(logprobs: Sequence[float]) -> list[float]:
    """Return probabilities that add up to 1, from logarithms of any size."""
    largest = max(logprobs)
    weights = [math.exp(value - largest) for value in logprobs]
    total = sum(weights)
    return [weight / total for weight in weights]
