"""The log-probability of every valid answer: no text is generated, so there are no parse failures.

Labels are scored as whole replies, because one may begin another: 1 and 13. Of choices, the letters are scored, which
cannot, so that no end of the turn is scored: a reply may go on after its letter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_puma.core import Answer, Conversation, SettingsError, ask
from pytest_puma.replies.letters import LETTERS
from pytest_puma.strategies.task import Task


def option_scoring(task: Task) -> Conversation:
    """Answer with the label or choice of the smallest expected loss."""
    labels, lettered = task.labels, bool(task.choices)
    if not labels:
        msg = (
            f"{task.scenario.name}: valid_labels() is [], and option_scoring compares its values; return them, or name "
            "other strategies"
        )
        raise SettingsError(msg)
    options = LETTERS[: len(labels)] if lettered else labels
    response = yield from ask(task.score(task.prompt(), options, ends=not lettered))
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
