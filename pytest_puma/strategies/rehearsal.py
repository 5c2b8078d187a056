"""A conversation rehearsed without a model: what a template cannot render, or does not show, is found at collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pytest_puma.core import Exchange, Generate, PumaError, Response, Score, TemplateError
from pytest_puma.strategies import Strategy, Task

#: A strategy of a user's own may ask until it has an answer, which never comes here.
_TURNS = 8


def rehearse(strategy: Strategy, task: Task) -> None:
    """Hold the conversation about a sample up to its end; a `TemplateError` for what no run should begin with."""
    asked = _asked(strategy, task)
    try:
        other = _asked(strategy, replace(task, sample=replace(task.sample, fields=_changed(task.sample.fields))))
    except PumaError:
        return  # the template makes something of the fields, if only of numbers
    if asked and asked == other:
        fields = ", ".join(name for name in task.sample.fields if name not in task.hidden)
        msg = f"{task.template.path}: shows no field of the sample, so all prompts would be alike; there are: {fields}"
        raise TemplateError(msg)


def asks_alike(strategy: Strategy, tasks: Iterable[tuple[Task, Task]]) -> bool:
    """Whether both tasks of every pair show the model the same prompts, where every reply is empty."""
    return all(_asked(strategy, one) == _asked(strategy, other) for one, other in tasks)


def _asked(strategy: Strategy, task: Task) -> list[str]:
    """The texts of all prompts, where every reply is empty."""
    asked: list[str] = []
    try:
        exchange = Exchange(strategy.converse(task))
        requests = exchange.advance()
        for _ in range(_TURNS):
            asked += [message.content for request in requests for message in request.prompt.messages]
            requests = exchange.advance(tuple(map(_reply, requests))) if requests else ()
    except PumaError:
        raise
    except Exception:  # noqa: BLE001 - a fault that a user's strategy has, or that real replies avoid
        return asked
    return asked


def _reply(request: Generate | Score) -> Response:
    if isinstance(request, Score):
        return Response(logprobs=(0.0,) * len(request.continuations), finish="scored")
    return Response()


def _changed(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _other(value) for name, value in fields.items()}


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return f"\N{SYMBOL FOR UNIT SEPARATOR}{value}\N{SYMBOL FOR UNIT SEPARATOR}"
    if isinstance(value, (list, tuple)):
        return [_other(each) for each in value]
    return value + 1 if isinstance(value, (int, float)) else value
