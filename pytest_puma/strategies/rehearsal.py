"""A conversation rehearsed without a model, to find faults of templates at collection."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pytest_puma.core import Exchange, Generate, Likelihood, PumaError, Response, Score, TemplateError
from pytest_puma.strategies.catalogue import Strategy
from pytest_puma.strategies.dialogue import TurnError
from pytest_puma.strategies.task import RenderedTurn, Task
from pytest_puma.strategies.template import PLACEHOLDER, Template

#: Maximum number of turns: a user's strategy may ask until it has an answer, which never comes here.
_MAX_TURNS = 8


def rehearse(strategy: Strategy, task: Task) -> None:
    """Run the conversation about a sample with empty replies; a `TemplateError` reports a fault of the template.

    A line of `pytest-puma init` that nobody has written yet is a warning.
    """
    turn, wording = RenderedTurn(), task.wording
    texts = _prompt_texts(strategy, replace(task, last_turn=turn))
    if isinstance(wording, Template):
        if any(PLACEHOLDER in text for text in texts):
            msg = f"puma: {wording.place}: models read {PLACEHOLDER!r} as it stands; do what it asks"
            warnings.warn(msg, UserWarning, stacklevel=2)
        # The conversation of a plugin may read other turns after other replies.
        ours = getattr(strategy.converse, "__module__", "").startswith("pytest_puma.")
        wording.check_turns(turn.asked, strategy.name, complete=ours)
        if strategy.shots and task.examples and _keeps(strategy, replace(task, examples=()), texts):
            fields = ", ".join(f"example.{name}" for name in task.examples[0])
            msg = (
                f"{wording.place}: {strategy.name} needs examples, but the template does not use the variable "
                f"examples; add {{% for example in examples %}}...{{% endfor %}} with some of {fields}; "
                "a prompt with examples of its own belongs in a strategy of its own, a file with another name"
            )
            raise TemplateError(msg)
    changed = {name: _other(value) for name, value in task.sample.fields.items()}
    if not task.whole_prompt and _keeps(strategy, replace(task, sample=replace(task.sample, fields=changed)), texts):
        fields = ", ".join(name for name in task.sample.fields if name not in task.hidden)
        msg = f"{wording.place}: shows no field of the sample, so all prompts would be equal; there are: {fields}"
        raise TemplateError(msg)


def same_prompts(strategy: Strategy, tasks: Iterable[tuple[Task, Task]]) -> bool:
    """Return True if both tasks of every pair have the same prompts, with empty replies."""
    return all(_prompt_texts(strategy, one) == _prompt_texts(strategy, other) for one, other in tasks)


def _keeps(strategy: Strategy, task: Task, texts: list[str]) -> bool:
    """Whether a task with other data has the same prompts; their template ignores the data."""
    try:
        return bool(texts) and texts == _prompt_texts(strategy, task)
    except PumaError:
        return False  # the template uses the data: fields perhaps only as numbers


def _prompt_texts(strategy: Strategy, task: Task) -> list[str]:
    """The texts of all prompts, with empty replies."""
    texts: list[str] = []
    try:
        exchange = Exchange(strategy.converse(task))
        requests = exchange.advance()
        for _ in range(_MAX_TURNS):
            texts += [message.content for request in requests for message in request.prompt.messages]
            requests = exchange.advance(tuple(map(_reply, requests))) if requests else ()
    except TurnError:
        return texts  # real replies are not empty
    except PumaError:
        raise
    except Exception:  # noqa: BLE001 - a fault of a user's strategy, or one that real replies avoid
        return texts
    return texts


def _reply(request: Generate | Score) -> Response:
    if isinstance(request, Score):
        likelihood = Likelihood(total=0.0, end=0.0 if request.ends else None, tokens=1, greedy=False)
        count = len(request.continuations)
        return Response(logprobs=(0.0,) * count, likelihoods=(likelihood,) * count, finish="scored")
    return Response()


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return f"\N{SYMBOL FOR UNIT SEPARATOR}{value}\N{SYMBOL FOR UNIT SEPARATOR}"
    if isinstance(value, Mapping):
        return {name: _other(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_other(part) for part in value]
    return value + 1 if isinstance(value, (int, float)) else value
