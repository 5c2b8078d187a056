"""A conversation rehearsed without a model, to find faults of templates at collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_puma.core import Exchange, Generate, Likelihood, Message, PumaError, Response, Score, TemplateError
from pytest_puma.strategies import Strategy, Task
from pytest_puma.strategies.templates import Template
from pytest_puma.strategies.wording import Shown, Wording

#: Maximum number of turns: a user's strategy may ask until it has an answer, which never comes here.
_MAX_TURNS = 8


@dataclass(frozen=True, slots=True)
class _NotedTurns:
    """A wording that notes the turns of which it is asked for messages."""

    wording: Wording
    turns: set[str] = field(default_factory=set)

    @property
    def place(self) -> str:
        return self.wording.place

    def digest(self, first: Shown) -> str:
        return self.wording.digest(first)

    def messages(self, turn: str, shown: Shown) -> tuple[Message, ...]:
        self.turns.add(turn)
        return self.wording.messages(turn, shown)

    def prefill(self, shown: Shown) -> str:
        return self.wording.prefill(shown)


def rehearse(strategy: Strategy, task: Task) -> None:
    """Run the conversation about a sample with empty replies; a `TemplateError` reports a fault of the template."""
    noted = _NotedTurns(task.wording)
    texts = _prompt_texts(strategy, replace(task, wording=noted))
    if isinstance(task.wording, Template):
        # The conversation of a plugin may read other turns after other replies.
        ours = getattr(strategy.converse, "__module__", "").startswith("pytest_puma.")
        task.wording.check_turns(noted.turns, strategy.name, complete=ours)
        _check_examples(strategy, task, texts)
    _check_fields(strategy, task, texts)


def _check_fields(strategy: Strategy, task: Task, texts: list[str]) -> None:
    """Refuse prompts that are the same for all samples; `texts` are those of the task."""
    try:
        changed = _prompt_texts(
            strategy, replace(task, sample=replace(task.sample, fields=_changed(task.sample.fields)))
        )
    except PumaError:
        return  # the template uses the fields, perhaps only as numbers
    if texts and texts == changed:
        fields = ", ".join(name for name in task.sample.fields if name not in task.hidden)
        msg = f"{task.wording.place}: shows no field of the sample, so all prompts would be equal; there are: {fields}"
        raise TemplateError(msg)


def _check_examples(strategy: Strategy, task: Task, texts: list[str]) -> None:
    """Refuse a template that leaves out the examples: its prompts would be those of a strategy without any."""
    if not (strategy.shots and task.examples):
        return
    try:
        without = _prompt_texts(strategy, replace(task, examples=()))
    except PumaError:
        return  # the template uses them
    if texts and texts == without:
        fields = ", ".join(f"example.{name}" for name in task.examples[0])
        msg = (
            f"{task.wording.place}: {strategy.name} needs examples, but the template does not use the variable "
            f"examples; add {{% for example in examples %}}...{{% endfor %}} with some of {fields}; "
            "a prompt with examples of its own belongs in a strategy of its own, a file with another name"
        )
        raise TemplateError(msg)


def asks_alike(strategy: Strategy, tasks: Iterable[tuple[Task, Task]]) -> bool:
    """Return True if both tasks of every pair have the same prompts, with empty replies."""
    return all(_prompt_texts(strategy, one) == _prompt_texts(strategy, other) for one, other in tasks)


def _prompt_texts(strategy: Strategy, task: Task) -> list[str]:
    """The texts of all prompts, with empty replies."""
    texts: list[str] = []
    try:
        exchange = Exchange(strategy.converse(task))
        requests = exchange.advance()
        for _ in range(_MAX_TURNS):
            texts += [message.content for request in requests for message in request.prompt.messages]
            requests = exchange.advance(tuple(map(_reply, requests))) if requests else ()
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


def _changed(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _other(value) for name, value in fields.items()}


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return f"\N{SYMBOL FOR UNIT SEPARATOR}{value}\N{SYMBOL FOR UNIT SEPARATOR}"
    if isinstance(value, Mapping):
        return {name: _other(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_other(each) for each in value]
    return value + 1 if isinstance(value, (int, float)) else value
