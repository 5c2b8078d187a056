"""The log-probability of every valid label as the whole reply: no text is generated, so none can be unreadable."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate

from pytest_puma.core import Answer, Conversation, ask
from pytest_puma.strategies.task import Task


def option_scoring(task: Task) -> Conversation:
    """Take the most probable label; in a regression the median, as `self_consistency` does."""
    labels = task.scenario.valid_labels()
    response = yield from ask(task.score(task.prompt(), labels))
    if response.finish == "overflow":
        return Answer(value=None, responses=(response,))
    probabilities = dict(zip(labels, softmax(response.logprobs), strict=True))
    choose = median if task.scenario.task_type == "regression" else mode
    return Answer(value=choose(probabilities), responses=(response,), probabilities=probabilities)


def softmax(logprobs: Sequence[float]) -> list[float]:
    """Probabilities that add up to 1, from logarithms of any size."""
    largest = max(logprobs)
    weights = [math.exp(value - largest) for value in logprobs]
    total = sum(weights)
    return [weight / total for weight in weights]


def mode(probabilities: Mapping[str, float]) -> str:
    """The most probable label, the first of several."""
    return max(probabilities, key=probabilities.__getitem__)


def median(probabilities: Mapping[str, float]) -> str:
    """The lowest value up to which half of the probability lies: none has a smaller expected absolute error.

    Source: T. Gneiting, "Making and evaluating point forecasts", Journal of the American Statistical Association 106
    (2011).
    """
    ascending = sorted(probabilities, key=float)
    reached = accumulate(probabilities[value] for value in ascending)
    return next(value for value, total in zip(ascending, reached, strict=True) if total >= 1 / 2)
