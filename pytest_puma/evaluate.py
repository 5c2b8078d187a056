"""The one loop: open a conversation for every sample, keep the engine full, measure, judge."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_puma.core import (
    Answer,
    Cell,
    Conversation,
    EngineError,
    Generation,
    Outcome,
    Prediction,
    Request,
    Response,
    Sample,
    Usage,
)
from pytest_puma.engine.engine import Engine
from pytest_puma.gates import judge
from pytest_puma.metrics import TOLERATED_FAILURES, confusion_matrix, measure_all
from pytest_puma.prompts import Template, find_template
from pytest_puma.scenarios.sampling import draw, example_rows
from pytest_puma.strategies import Strategy, Task, parse_strategy, resolve_generation

#: Characters of a prompt's end that a prediction keeps, for reports of misses.
PROMPT_TAIL = 600

Progress = Callable[[int, int], None]


def evaluate(
    cell: Cell,
    engine: Engine,
    *,
    project: Path | None = None,
    strategies: Mapping[str, Strategy] | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run a cell to its outcome.

    `project` is the folder whose `prompts/` override the bundled ones, `strategies` are a plugin's own ones by name,
    `progress` is told (answered, all) samples after every batch. A `PumaError` says what cannot be
    done; an answer that cannot be read is no error but a prediction without an answer.
    """
    started = time.perf_counter()
    strategy = parse_strategy(cell.strategy, strategies)
    generation = resolve_generation(strategy, cell.generation)
    samples = draw(cell.scenario, cell.samples, cell.seed)
    template = template_of(cell, strategy, project)
    tasks = _tasks(cell, strategy, samples, template, generation)
    engine.reset()
    talks = hold([strategy.converse(task) for task in tasks], engine, progress)
    predictions = tuple(_prediction(sample, talk) for sample, talk in zip(samples, talks, strict=True))
    measures = measure_all(cell.scenario, predictions, seed=cell.seed)
    return Outcome(
        cell=cell.id,
        scenario=cell.scenario.name,
        strategy=cell.strategy,
        model=cell.model.name,
        metrics=cell.metrics or (cell.scenario.primary_metric(),),
        signature=_signature(cell, template, generation, engine),
        predictions=predictions,
        measures=measures,
        confusion=_confusion(cell, predictions),
        verdicts=tuple(judge(gate, measures) for gate in cell.gates),
        warnings=_warnings(cell, predictions, engine),
        usage=Usage.total(prediction.usage for prediction in predictions),
        seconds=time.perf_counter() - started,
    )


def template_of(cell: Cell, strategy: Strategy, project: Path | None) -> Template:
    """The template of a cell; a `TemplateError` names the file to create."""
    return find_template(cell.scenario.template_folder or cell.scenario.name, strategy.templates, project=project)


@dataclass(slots=True, eq=False)
class Talk:
    """A conversation under way: the tickets it waits for, and in the end its answer."""

    conversation: Conversation
    waiting: list[int] = field(default_factory=list)
    replies: dict[int, Response] = field(default_factory=dict)
    last_request: Request | None = None
    usage: Usage = field(default_factory=Usage)
    answer: Answer | None = None

    def advance(self, engine: Engine) -> None:
        """Send the responses it waited for, submit what it asks next, or keep its answer."""
        responses = tuple(self.replies.pop(ticket) for ticket in self.waiting)
        try:
            requests = self.conversation.send(responses) if self.waiting else next(self.conversation)
        except StopIteration as stop:
            if not isinstance(stop.value, Answer):
                msg = f"a strategy returns {stop.value!r}; expected an Answer"
                raise EngineError(msg) from None
            self.answer = stop.value
            return
        if not requests:
            msg = "a strategy yields no request; expected at least one in each yield"
            raise EngineError(msg)
        self.last_request = requests[-1]
        self.waiting = [engine.submit(request) for request in requests]

    def hear(self, ticket: int, response: Response) -> bool:
        """Take a response; whether it was the last one waited for."""
        self.replies[ticket] = response
        self.usage += response.usage
        return len(self.replies) == len(self.waiting)


def hold(conversations: Sequence[Conversation], engine: Engine, progress: Progress | None = None) -> list[Talk]:
    """Keep all conversations going at once until each has its answer."""
    talks = [Talk(conversation) for conversation in conversations]
    owners: dict[int, Talk] = {}
    answered = 0
    ready = list(talks)
    while answered < len(talks):
        for talk in ready:
            talk.advance(engine)
            if talk.answer is None:
                owners.update(dict.fromkeys(talk.waiting, talk))
            else:
                answered += 1
        if progress is not None:
            progress(answered, len(talks))
        heard = engine.step()
        ready = [talk for ticket, response in heard.items() if (talk := owners.pop(ticket)).hear(ticket, response)]
    return talks


def _tasks(
    cell: Cell, strategy: Strategy, samples: Sequence[Sample], template: Template, generation: Generation
) -> list[Task]:
    examples: Sequence[Mapping[str, object]] = ()
    if strategy.shots:
        evaluated = frozenset(sample.id for sample in samples)
        examples = example_rows(cell.scenario, strategy.shots, cell.seed, evaluated)
    return [
        Task(
            scenario=cell.scenario,
            sample=sample,
            template=template,
            examples=examples,
            generation=generation,
            seed=cell.seed,
        )
        for sample in samples
    ]


def _prediction(sample: Sample, talk: Talk) -> Prediction:
    answer = talk.answer
    if answer is None or talk.last_request is None or not answer.responses:
        msg = f"the strategy answered sample {sample.id!r} without a response; expected Answer(responses=...)"
        raise EngineError(msg)
    return Prediction(
        sample_id=sample.id,
        gold=sample.gold,
        answer=answer.value,
        raw=tuple(response.text for response in answer.responses),
        probabilities=answer.probabilities,
        logprobs=tuple(value for response in answer.responses for value in response.logprobs),
        finish=answer.responses[-1].finish,
        prompt=talk.last_request.prompt.messages[-1].content[-PROMPT_TAIL:],
        units=sample.units,
        usage=talk.usage,
    )


def _confusion(cell: Cell, predictions: Sequence[Prediction]) -> dict[str, dict[str, int]]:
    if cell.scenario.task_type == "regression":
        return {}
    return confusion_matrix(predictions, cell.scenario.valid_labels())


def _signature(cell: Cell, template: Template, generation: Generation, engine: Engine) -> dict[str, object]:
    """Everything that could change the numbers."""
    source = cell.scenario.source()
    return {
        "data": None if source is None else {"file": source.name, "sha256": source.digest},
        "template_sha256": template.digest,
        "samples": cell.samples,
        "seed": cell.seed,
        "generation": {name: getattr(generation, name) for name in generation.__slots__},
        "engine": dict(engine.backend.signature),
    }


def _warnings(cell: Cell, predictions: Sequence[Prediction], engine: Engine) -> tuple[str, ...]:
    found = len(predictions)
    unreadable = sum(prediction.answer is None for prediction in predictions)
    overflown = sum(prediction.finish == "overflow" for prediction in predictions)
    sentences = list(engine.backend.notes)
    if found < cell.samples:
        sentences.append(f"asked for {cell.samples} samples; the data have {found}, all were run")
    if unreadable > TOLERATED_FAILURES * found:
        sentences.append(f"{unreadable} of {found} answers could not be read: the numbers say little")
    if overflown:
        sentences.append(f"{overflown} of {found} prompts are longer than the context and were not answered")
    return tuple(f"{cell.id}: {sentence}" for sentence in sentences)
