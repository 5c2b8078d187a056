"""Several sampled chains of thought for the same prompt; the most frequent answer wins.

Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", ICLR 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pytest_puma.core import Answer, Conversation, ask_all
from pytest_puma.strategies.task import Task

TEMPERATURE = 0.7


def self_consistency(answers: int) -> Callable[[Task], Conversation]:
    """Return the strategy that asks for this number of answers at once."""
    return partial(_converse, answers=answers)


def _converse(task: Task, *, answers: int) -> Conversation:
    """Parse the final answer of each reply; parse failures do not vote."""
    prompt = task.prompt()
    responses = yield from ask_all(task.generate(prompt, index=index) for index in range(answers))
    values = (task.read_final(response) for response in responses)
    votes = [vote for vote in values if vote is not None]
    if not votes:
        return Answer(value=None, responses=responses)
    value, shares = task.scenario.kind.vote(votes, task.labels, task.derived_seed("tie"))
    return Answer(value=value, responses=responses, probabilities=shares)
