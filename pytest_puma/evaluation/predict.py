"""From a cell and an engine to predictions: hold a conversation about every trial. Nothing is measured here."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_puma.analysis.early_stopping import EarlyStopping
from pytest_puma.core import (
    JUDGE,
    Capability,
    Determinism,
    Messages,
    NotRunError,
    Origin,
    Prediction,
    Responder,
    Sample,
    SettingsError,
    SharedPrompts,
    Speed,
    StoreShare,
)
from pytest_puma.core.metric import NO_ENERGY, Source
from pytest_puma.evaluation.answered import Answered
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.conversations import Progress, run_conversations
from pytest_puma.evaluation.determinism import check_batch_invariance
from pytest_puma.evaluation.tasks import by_sample, check_changed, tasks_of, wording_digest
from pytest_puma.scenarios.code import code_digests
from pytest_puma.strategies import Task
from pytest_puma.strategies.retries import bound_by_grammar, conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPredictions:
    """The answers of a cell, with everything about them that an assessment needs.

    `samples`: as shown; each has one prediction a trial. `planned`: the number of samples of the cell; more than
    `samples` if the cell ended early. `looked`: the cell could end early, so all intervals are those of looks.
    `complete`: False if only some samples were requested. `hidden`: fields of the samples that prompts do not show.
    `signature`, `notes`, `warnings`, `unmeasured`, `kept`: those of their provenance. `kept_of_judges`: as `kept`.
    """

    samples: tuple[Sample, ...]
    predictions: tuple[Prediction, ...]
    planned: int
    hidden: frozenset[str]
    signature: Mapping[str, object]
    looked: bool = False
    complete: bool = True
    shared_prompts: tuple[Messages, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unmeasured: Mapping[Source, str] = field(default_factory=dict)
    kept: StoreShare | None = None
    kept_of_judges: StoreShare | None = None
    determinism: Determinism | None = None
    speed: Speed = field(default_factory=Speed)
    seconds: float = 0.0


def predict(
    cell: Cell,
    engine: Responder,
    *,
    project: Path | None = None,
    progress: Progress | None = None,
    determinism: int = 0,
    only: Collection[str] | None = None,
    stopping: EarlyStopping | None = None,
) -> CellPredictions:
    """Ask the model about every sample of a cell.

    `project`: the folder whose `prompts/` override the bundled ones. `progress` receives (answered, all) samples after
    every batch. `determinism`: the first trial of this many samples is asked once more, each alone. `only`: the ids of
    the samples to ask, None for all. `stopping`: ends the cell as soon as its gates are decided, None to ask all
    samples. Raises a `PumaError` for what cannot be done, a `NotRunError` if the cell cannot be run. An
    answer that cannot be parsed is a prediction without an answer.
    """
    every = _tasks(cell, engine, project)
    trials = _picked(by_sample(every), only)
    looks = () if stopping is None or only is not None else stopping.looks(len(trials))
    _begin(cell, engine, every, project)
    started = time.perf_counter()
    answered = _ask(cell, trials, engine, progress, stopping, looks)
    predictions = tuple(trial.prediction(cell.strategy) for trial in answered)
    speed = engine.speed
    seconds = time.perf_counter() - started - speed.open_seconds
    # Of trials, the first ones stand for their samples.
    first = [(task, state) for task, state, _ in answered if not task.trial.index]
    repeated, states = [task for task, _ in first[:determinism]], [state for _, state in first]
    provenance = engine.provenance()
    return CellPredictions(
        samples=tuple(_sample(cell, task) for task, _ in first),
        predictions=predictions,
        planned=len(trials),
        hidden=every[0].hidden,
        signature=provenance.signature,
        looked=bool(looks),
        complete=only is None,
        shared_prompts=answered[0].state.shared.shared(),
        notes=provenance.notes,
        warnings=provenance.warnings,
        unmeasured={**({} if any(p.joules for p in predictions) else NO_ENERGY), **provenance.unmeasured},
        kept=provenance.kept,
        determinism=check_batch_invariance(cell.strategy, repeated, states, engine) if repeated else None,
        speed=speed,
        seconds=seconds,
    )


def keep(
    cell: Cell, engine: Responder, part: slice, *, project: Path | None = None, progress: Progress | None = None
) -> int:
    """Hold a part of the conversations of a cell, whole blocks, for the response store alone; return their number."""
    every = _tasks(cell, engine, project)
    tasks = every[part]
    _begin(cell, engine, every, project)
    origins = [Origin(cell.id, task.sample, task.trial) for task in tasks]
    run_conversations([conversation(cell.strategy, task) for task in tasks], engine, progress, origins=origins)
    # The store learns that the last block is complete.
    engine.forget()
    return len(tasks)


def _tasks(cell: Cell, engine: Responder, project: Path | None) -> list[Task]:
    every = tasks_of(cell, project)
    check_changed(cell, every, project)
    _check_capabilities(cell, every[0], engine)
    return every


def _begin(cell: Cell, engine: Responder, tasks: Sequence[Task], project: Path | None) -> None:
    vary(cell, engine)
    engine.begin(cell.id, _signature(cell, tasks[0], wording_digest(cell, tasks, project)))


def vary(cell: Cell, engine: Responder) -> None:
    """Let the model answer as the variant of the cell; a `NotRunError` if what answers for it cannot."""
    if engine.backend is not None:
        engine.backend.vary(cell.model.variant)
    elif cell.model.computes and cell.model.variant is not None:
        msg = f"{cell.id}: a plugin answers for {cell.model.name}, and cannot put {cell.model.variant.name} on it"
        raise NotRunError(msg)


def _sample(cell: Cell, task: Task) -> Sample:
    """The sample of a task; if a judge will read it, with its turns, but without the examples before them."""
    if not any(metric.asks == JUDGE for metric in cell.scores):
        return task.sample
    return replace(task.sample, asked=replace(task, examples=()).prompt().messages)


def _check_capabilities(cell: Cell, task: Task, responder: Responder) -> None:
    """Refuse a cell that needs what its responder cannot do; `task` is any of its tasks."""
    needed: set[Capability] = {*cell.strategy.needs}
    if cell.generation.grammar is not None or bound_by_grammar(cell.strategy, task):
        needed.add("grammar")
    if any({"likelihoods", "unconditional"} & {*metric.needs} for metric in cell.scores):
        needed.add("score")
    if missing := sorted(needed - responder.capabilities):
        msg = (
            f"{cell.id}: it needs {' and '.join(map(repr, missing))}, which {cell.model.name} cannot do; "
            f"expected another strategy or model"
        )
        raise NotRunError(msg)


def _picked(trials: Sequence[list[Task]], only: Collection[str] | None) -> list[list[Task]]:
    """The trials of the samples to ask; a `SettingsError` if the data have none of them any more."""
    picked = [tasks for tasks in trials if only is None or tasks[0].sample.id in only]
    if not picked:
        msg = f"none of the {len(only or ())} samples to ask is among the {len(trials)} of this run; ask all again"
        raise SettingsError(msg)
    return picked


def _ask(  # noqa: PLR0917 - the parts of one loop
    cell: Cell,
    trials: Sequence[list[Task]],
    engine: Responder,
    progress: Progress | None,
    stopping: EarlyStopping | None,
    looks: Sequence[int],
) -> list[Answered]:
    """Hold the conversations about all samples, or about as many as decide the gates at one of the `looks`."""
    answered: list[Answered] = []
    conversations_of_all = sum(map(len, trials))

    def report(now: int, _: int) -> None:
        if progress is not None:
            progress((len(answered) + now) * len(trials) // conversations_of_all, len(trials))

    start, shared = 0, SharedPrompts()
    for end in (*looks, len(trials)):
        part = [(task, len(tasks) > 1) for tasks in trials[start:end] for task in tasks]
        origins = [Origin(cell.id, task.sample, task.trial) for task, _ in part]
        states = run_conversations(
            [conversation(cell.strategy, task) for task, _ in part], engine, report, shared, origins
        )
        answered += [Answered(task, state, several) for (task, several), state in zip(part, states, strict=True)]
        start = end
        if end < len(trials) and stopping is not None:
            predictions = [trial.prediction(cell.strategy) for trial in answered]
            if stopping.decided(predictions, len(trials), [tasks[0].sample for tasks in trials[:end]]):
                break
    if progress is not None:
        progress(start, start)
    return answered


def _signature(cell: Cell, task: Task, wording: str) -> dict[str, object]:
    """Everything of a cell that could change the numbers: any of its tasks has the decoding; `wording`: its digest."""
    source, generation = cell.scenario.source(), task.generation
    return {
        "data": None if source is None else {"file": source.name, "sha256": source.digest},
        "template_sha256": wording,
        **code_digests(type(cell.scenario)),
        "perturbation": cell.name.perturbation,
        "samples": cell.samples,
        "repeats": cell.repeats,
        "subjects": list(cell.subjects),
        "seed": cell.seed,
        "generation": {name: getattr(generation, name) for name in generation.__slots__},
        **({"retries": cell.retries} if cell.retries else {}),
        **({"prompt_suffix": cell.prompt_suffix} if cell.prompt_suffix else {}),
        # Left out where it is on, as in signatures from before it could be off.
        **({} if task.chat else {"chat": False}),
    }
