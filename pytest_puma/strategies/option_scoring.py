"""The log-probability of every valid answer as the whole reply: no text is generated, so there are no parse failures.

The answers are labels; of choices, their letters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_puma.core import Answer, Conversation, ask
from pytest_puma.scenarios.letters import LETTERS
from pytest_puma.strategies.task import Task


def option_scoring(task: Task) -> Conversation:
    """Answer with the label of the smallest expected loss.

    In plain text the end of a turn means nothing, so letters are scored without one.
    """
    labels, lettered = task.labels, bool(task.choices)
    options = LETTERS[: len(labels)] if lettered else labels
    response = yield from ask(task.score(task.prompt(), options, ends=task.chat or not lettered))
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
