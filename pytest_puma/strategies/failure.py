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
from collections.abc import Sequence
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

    `last` are the responses to the last requests: the result is the most frequent cause of those that the answer names.
    `final_line`: the strategy parses the `Answer:` line alone.
    """
    if answer.value is not None:
        return None if task.allows(answer.value) else _refused(task, answer.value)
    if answer.failure:
        return Failure(cause=answer.failure)
    named = [response for response in last if any(response is one for one in answer.responses)]
    failures = [_failure(task, response, final_line=final_line) for response in named or last]
    most_frequent = Counter(failure.cause for failure in failures).most_common(1)[0][0]
    return next(failure for failure in failures if failure.cause == most_frequent)


def _failure(task: Task, response: Response, *, final_line: bool) -> Failure:
    if response.finish == "overflow":
        return Failure(cause="overflow")
    text, line = strip_reasoning(response.text), task.answer_line(response.text)
    values = [task.parse(part) for part in ((line,) if final_line else (text, line)) if part]
    for value in values:
        if value is not None and not task.allows(value):
            return _refused(task, value)
    causes = {
        "thinking": in_thoughts(response.text),
        "truncated": response.truncated,
        "empty": not text,
        "no_answer_line": final_line and line is None,
    }
    return Failure(cause=next((cause for cause, applies in causes.items() if applies), "unparsed"))


def _refused(task: Task, value: str) -> Failure:
    return Failure(cause=task.scenario.kind.refusal, parsed=value)
