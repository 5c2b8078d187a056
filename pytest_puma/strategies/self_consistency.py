"""Several sampled chains of thought about the same prompt; the answer given most often wins.

Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", ICLR 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pytest_puma.core import Answer, Conversation, ask_all
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
    value, shares = task.scenario.kind.vote(votes, task.scenario.valid_labels(), task.derived_seed("tie"))
    return Answer(value=value, responses=responses, probabilities=shares)
