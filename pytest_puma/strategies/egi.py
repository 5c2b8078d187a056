"""Two turns: the model names what the text leaves unclear and answers it itself from the text, then it decides."""

from __future__ import annotations

from dataclasses import replace

from pytest_puma.core import Answer, Conversation, Message, ask
from pytest_puma.scenarios.answers import strip_reasoning
from pytest_puma.strategies.task import Task

MAX_TOKENS = 200
DECIDE = "decide"


def egi(task: Task) -> Conversation:
    """Ask what is unclear, then, with that reply in the chat, for the decision; read its final answer."""
    question = task.prompt()
    # A grammar describes the answer, and this turn gives none.
    notes = yield from ask(replace(task.generate(question), grammar=None))
    if notes.finish == "overflow":
        return Answer(value=None, responses=(notes,))
    said = Message(role="assistant", content=strip_reasoning(notes.text))
    decision = yield from ask(task.generate(task.prompt(DECIDE, (*question.messages, said)), index=1))
    return Answer(value=task.read_final(decision.text), responses=(notes, decision))
