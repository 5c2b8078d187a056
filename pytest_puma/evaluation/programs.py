"""The programs of metrics, run in rounds: the first ones of all conversations together, then their next ones."""

from __future__ import annotations

from collections.abc import Sequence
from types import GeneratorType
from typing import Any

from pytest_puma.core import MetricError, Program, Ran, Sandbox
from pytest_puma.phrases import shown


def run_programs(
    conversations: Sequence[GeneratorType[Any, Any, Any]], sandbox: Sandbox
) -> dict[GeneratorType[Any, Any, Any], list[tuple[Program, Ran]]]:
    """Run the programs that conversations yield until each ends; return those of each with what happened.

    Several metrics need the same program, and several trials may write it: it is run once.
    """
    ran: dict[Program, Ran] = {}
    asked: dict[GeneratorType[Any, Any, Any], list[tuple[Program, Ran]]] = {it: [] for it in conversations}
    open_ = {conversation: _next(conversation, None) for conversation in conversations}
    while waiting := {conversation: program for conversation, program in open_.items() if program is not None}:
        programs = [program for program in dict.fromkeys(waiting.values()) if program not in ran]
        ran.update(zip(programs, sandbox.run(programs), strict=True))
        for conversation, program in waiting.items():
            asked[conversation].append((program, ran[program]))
        open_ = {conversation: _next(conversation, ran[program]) for conversation, program in waiting.items()}
    return asked


def _next(conversation: GeneratorType[Any, Any, Any], ran: Ran | None) -> Program | None:
    """The next program of a conversation; None at its end."""
    try:
        program = conversation.send(ran)
    except StopIteration:
        return None
    if not isinstance(program, Program):
        msg = f"the function {conversation.__name__} yields {shown(program)}; expected a Program(text=...)"
        raise MetricError(msg)
    return program
