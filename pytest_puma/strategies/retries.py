"""Retries: the conversation about a trial once more if its reply has no valid answer.

Each trial is retried by itself, with seeds that follow from the trial and the number of the retry, so that no other
trial and no order matters. A sampled reply is sampled again with another seed. A greedy one would be the same, so it is
asked once more under a grammar of the valid answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_puma.core import Conversation, SettingsError
from pytest_puma.strategies.catalogue import Strategy
from pytest_puma.strategies.task import Task
from pytest_puma.strategies.valid_answers import grammar_of


def conversation(strategy: Strategy, task: Task) -> Conversation:
    """Return the conversation of a strategy about a trial, with the retries of its cell."""
    return _retried(strategy, task) if task.retries else strategy.converse(task)


def check_retries(strategy: Strategy, task: Task) -> None:
    """Refuse retries of greedy replies if their valid answers have no grammar."""
    if not bound_by_grammar(strategy, task):
        return
    try:
        grammar_of(task)
    except SettingsError as error:
        msg = f"retries is {task.retries} at temperature 0, where a retry follows a grammar of the answers: {error}"
        raise SettingsError(msg) from error


def bound_by_grammar(strategy: Strategy, task: Task) -> bool:
    """Whether the retries of a trial are written under a grammar."""
    return bool(task.retries) and not task.generation.temperature and "generate" in strategy.needs


def _retried(strategy: Strategy, task: Task) -> Conversation:
    answer = yield from strategy.converse(task)
    for retry in _retries(strategy, task):
        valid = answer.value is not None and task.allows(answer.value)
        # A prompt that is too long stays too long.
        if valid or any(response.finish == "overflow" for response in answer.responses):
            break
        answer = replace((yield from strategy.converse(retry)), tries=answer.tries + 1)
    return answer


def _retries(strategy: Strategy, task: Task) -> Iterator[Task]:
    """The task of each retry."""
    if not bound_by_grammar(strategy, task):
        yield from (replace(task, attempt=attempt) for attempt in range(1, task.retries + 1))
    elif grammar := grammar_of(task, opening="Answer: " if strategy.final_line else ""):
        yield replace(task, attempt=1, bound=grammar)
