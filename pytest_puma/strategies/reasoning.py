"""Strategies whose replies reason first; only the final answer of a reply is parsed.

A number or label in the reasoning is not taken for the answer, which is on the last `Answer:` line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from pytest_puma.core import Answer, Conversation, Message, ask, ask_all
from pytest_puma.replies.answers import strip_reasoning
from pytest_puma.strategies.task import Task

MAX_TOKENS, EGI_MAX_TOKENS = 256, 200
#: Sampling temperature of self-consistency.
TEMPERATURE = 0.7
#: The second turn of `egi`.
DECIDE = "decide"


def chain_of_thought(task: Task) -> Conversation:
    """Ask once for a short reasoning that ends in an `Answer:` line."""
    response = yield from ask(task.generate(task.prompt()))
    return Answer(value=task.read_final(response), responses=(response,))


def self_consistency(answers: int) -> Callable[[Task], Conversation]:
    """Return the strategy that samples this number of chains of thought at once; the most frequent answer wins.

    Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", ICLR 2023.
    """
    return partial(_vote, answers=answers)


def _vote(task: Task, *, answers: int) -> Conversation:
    """Parse the final answer of each reply; parse failures do not vote."""
    prompt = task.prompt()
    responses = yield from ask_all(task.generate(prompt, index=index) for index in range(answers))
    values = (task.read_final(response) for response in responses)
    votes = [vote for vote in values if vote is not None]
    if not votes:
        return Answer(value=None, responses=responses)
    value, shares = task.scenario.kind.vote(votes, task.labels, task.derived_seed("tie"))
    return Answer(value=value, responses=responses, probabilities=shares)


def egi(task: Task) -> Conversation:
    """Ask what is unclear in the text and for a clarification from it, then, with that reply, for the decision."""
    question = task.prompt()
    # A grammar describes the answer, which this turn does not give.
    notes = yield from ask(replace(task.generate(question), grammar=None))
    if notes.finish == "overflow":
        return Answer(value=None, responses=(notes,))
    reply = Message(role="assistant", content=strip_reasoning(notes.text))
    decision = yield from ask(task.generate(task.prompt(DECIDE, (*question.messages, reply)), index=1))
    return Answer(value=task.read_final(decision), responses=(notes, decision))
