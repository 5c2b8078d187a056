"""Several sampled chains of thought about the same prompt; the answer given most often wins.

Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", ICLR 2023.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median

from pytest_puma.core import Answer, Conversation, ask_all
from pytest_puma.scenarios.answers import number_text
from pytest_puma.strategies.task import Task

TEMPERATURE = 0.7


def self_consistency(answers: int) -> Callable[[Task], Conversation]:
    """The strategy that asks for so many answers at once."""
    return partial(_converse, answers=answers)


def _converse(task: Task, *, answers: int) -> Conversation:
    """Read each reply's final answer; replies that give no answer do not vote."""
    prompt = task.prompt()
    responses = yield from ask_all(task.generate(prompt, index=index) for index in range(answers))
    read = (task.read_final(response.text) for response in responses)
    votes = [vote for vote in read if vote is not None]
    if not votes:
        return Answer(value=None, responses=responses)
    if task.scenario.task_type == "regression":
        return Answer(value=_middle(votes), responses=responses)
    shares = _shares(votes, task.scenario.valid_labels())
    return Answer(value=_winner(shares, task.derived_seed("tie")), responses=responses, probabilities=shares)


def _middle(votes: Sequence[str]) -> str:
    """The median; of an even number of votes, the mean of the two in the middle."""
    return number_text(median(float(vote) for vote in votes))


def _shares(votes: Sequence[str], labels: Sequence[str]) -> dict[str, float]:
    counts = Counter(votes)
    return {label: counts[label] / len(votes) for label in labels}


def _winner(shares: Mapping[str, float], seed: int) -> str:
    """The label with the largest share; among equals one by lot, so that no label is favoured."""
    largest = max(shares.values())
    tied = [label for label, share in shares.items() if share == largest]
    return tied[seed % len(tied)]
