"""The messages of a dialogue after the first: stated by `turns` of the scenario, then decided by its `reply_to`."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_puma.core import DataError, Scenario
from pytest_puma.errors import raised_in
from pytest_puma.strategies.task import Task

#: Maximum number of replies: a `reply_to` that never returns None would go on until the context is full.
MAX_REPLIES = 64


class TurnError(DataError):
    """A fault of `reply_to`, perhaps only about replies of a rehearsal, which are empty."""


def decides(scenario: Scenario) -> bool:
    """Whether a scenario decides what to say next by what was said."""
    return type(scenario).reply_to is not Scenario.reply_to


def next_turn(task: Task, said: Sequence[str]) -> str | None:
    """Return the next message of the user after the replies so far; None at the end of the dialogue."""
    scenario, item = task.scenario, dict(task.sample.fields)
    turns = scenario.turns(item)
    if len(said) < len(turns):
        return turns[len(said)]
    if not decides(scenario):
        return None
    where = f"scenario {scenario.name!r}, row {task.sample.id}: reply_to() after {len(said)} replies"
    try:
        text = scenario.reply_to(item, tuple(said))
    except Exception as error:
        msg = f"{where} raised {type(error).__name__}: {raised_in(error)}; expected the next message, or None"
        raise TurnError(msg) from error
    if text is not None and (not isinstance(text, str) or not text.strip()):
        msg = f"{where} returned {text!r}; expected the next message of the user, or None at the end"
        raise TurnError(msg)
    if text is not None and len(said) >= MAX_REPLIES:
        msg = f"{where} asks on; expected None at the end of the dialogue, after at most {MAX_REPLIES}"
        raise TurnError(msg)
    return text
