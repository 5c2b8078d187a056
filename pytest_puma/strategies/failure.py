"""The cause of a parse failure, in one word.

    overflow          the prompt is longer than the context: nothing was computed
    not_a_label       the parser returned a text that is not among `valid_labels()`
    not_a_choice      the same for choices: a text that is none of those of the sample
    not_a_number      the same in a regression: a text that is not a finite number
    thinking          the reply ends inside its reasoning
    truncated         the reply was cut off, and what is complete of it contains no answer
    empty             the reply has no text outside of its reasoning
    no_answer_line    the strategy parses the `Answer:` line; the reply has none and states no answer either
    unparsed          the parser returned `None`

The first that applies is the cause. An own strategy may give another word in `Answer.failure`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_puma.core import Answer, Response
from pytest_puma.replies.answers import in_thoughts, strip_reasoning
from pytest_puma.strategies.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The cause, and the invalid answer if the parser returned one."""

    cause: str
    parsed: str | None = None


def failure_of(task: Task, answer: Answer, last: Sequence[Response], *, final_line: bool) -> Failure | None:
    """Return why an answer has no valid value; `None` if it has one.

    `last` are the responses to the last requests: the result is their most frequent cause. `final_line`: the strategy
    parses the `Answer:` line alone.
    """
    if answer.value is not None:
        return None if task.allows(answer.value) else _refused(task, answer.value)
    if answer.failure:
        return Failure(cause=answer.failure)
    causes = [_cause(task, response, final_line=final_line) for response in last]
    most_frequent = Counter(each.cause for each in causes).most_common(1)[0][0]
    return next(each for each in causes if each.cause == most_frequent)


def _cause(task: Task, response: Response, *, final_line: bool) -> Failure:
    if response.finish == "overflow":
        return Failure(cause="overflow")
    text = strip_reasoning(response.text)
    line = task.answer_line(response.text)
    for value in _parsed(task, (line,) if final_line else (text, line)):
        if not task.allows(value):
            return _refused(task, value)
    if in_thoughts(response.text):
        return Failure(cause="thinking")
    if response.truncated:
        return Failure(cause="truncated")
    if not text:
        return Failure(cause="empty")
    return Failure(cause="no_answer_line" if final_line and line is None else "unparsed")


def _parsed(task: Task, texts: Iterable[str | None]) -> list[str]:
    """The answers that the scenario's parser finds in the non-empty texts."""
    values = (task.parse(text) for text in texts if text)
    return [value for value in values if value is not None]


def _refused(task: Task, value: str) -> Failure:
    return Failure(cause=task.scenario.kind.refusal, parsed=value)
