"""Two turns: the model names what is unclear in the text and clarifies it from the text, then it decides."""

from __future__ import annotations

from dataclasses import replace

from pytest_puma.core import Answer, Conversation, Message, ask
from pytest_puma.replies.answers import strip_reasoning
from pytest_puma.strategies.task import Task

MAX_TOKENS = 200
DECIDE = "decide"


def egi(task: Task) -> Conversation:
    """Ask what is unclear, then, with that reply in the chat, for the decision; parse its final answer."""
    question = task.prompt()
    # A grammar describes the answer, which this turn does not give.
    notes = yield from ask(replace(task.generate(question), grammar=None))
    if notes.finish == "overflow":
        return Answer(value=None, responses=(notes,))
    reply = Message(role="assistant", content=strip_reasoning(notes.text))
    decision = yield from ask(task.generate(task.prompt(DECIDE, (*question.messages, reply)), index=1))
    return Answer(value=task.read_final(decision), responses=(notes, decision))
