"""The one loop: open a conversation for every sample, keep the engine full, measure, judge."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_puma.analysis import cautions, early_stopping
from pytest_puma.analysis.naive_baselines import NaiveBaseline, NaiveBaselines
from pytest_puma.analysis.verdicts import Comparison, verdicts
from pytest_puma.baseline import Entry
from pytest_puma.core import (
    BootstrapReplicates,
    Cell,
    Contrast,
    EngineError,
    Flip,
    Outcome,
    Policy,
    Prediction,
    Sample,
    Scenario,
    SettingsError,
    SharedPrompts,
    UnchangedError,
    Usage,
    Verdict,
)
from pytest_puma.core.gate import DRIFT
from pytest_puma.engine.engine import Engine
from pytest_puma.gates import not_run
from pytest_puma.metrics import ScoredPredictions, confusion_matrix, contrast
from pytest_puma.perturbations import Perturbation, parse_perturbation, perturb
from pytest_puma.run.conversations import ConversationState, Progress, run_conversations
from pytest_puma.run.determinism import check_batch_invariance
from pytest_puma.scenarios.gold import hidden_fields
from pytest_puma.scenarios.sampling import draw as draw_samples
from pytest_puma.scenarios.sampling import example_rows
from pytest_puma.scenarios.texts import beginning, text_fields
from pytest_puma.stats import LEVEL
from pytest_puma.strategies import Strategy, Task, failure_of, parse_strategy, resolve_generation
from pytest_puma.strategies.rehearsal import asks_alike
from pytest_puma.strategies.templates import Template, find_template

DEFAULT_POLICY = Policy()


def evaluate(
    cell: Cell,
    engine: Engine,
    *,
    project: Path | None = None,
    strategies: Mapping[str, Strategy] | None = None,
    perturbations: Mapping[str, Perturbation] | None = None,
    progress: Progress | None = None,
    determinism: int = 0,
    baseline: Entry | None = None,
    naive_baselines: NaiveBaselines | None = None,
    policy: Policy = DEFAULT_POLICY,
    stop_early: bool = False,
    only: Collection[str] | None = None,
) -> Outcome:
    """Run a cell to its outcome.

    `project` is the folder whose `prompts/` override the bundled ones, `strategies` and `perturbations` are a plugin's
    own ones by name, `progress` is told (answered, all) samples after every batch, and so many samples as `determinism`
    says are asked once more, each alone. Gates may compare with the cell's `baseline` and with the `naive_baselines`;
    `policy` says what becomes of doubt; `stop_early` lets the cell end as soon as its gates are decided; `only` are the
    ids of the samples to ask where it is not all, which no gate is judged by. A `PumaError` says what cannot be done;
    an answer that cannot be read is no error but a prediction without an answer. An `UnchangedError`: the cell's
    perturbation changes none of its prompts.
    """
    started = time.perf_counter()
    strategy = parse_strategy(cell.strategy, strategies)
    tasks = tasks_of(cell, strategy, project, perturbations)
    if cell.perturbation is not None:
        _refuse_unchanged(cell, strategy, tasks, tasks_of(replace(cell, perturbation=None), strategy, project))
    tasks = _picked(tasks, only)
    looks = early_stopping.looks(len(tasks)) if stop_early and only is None and early_stopping.stops(cell) else ()
    engine.reset()
    shared = SharedPrompts()
    states, answers = _ask(cell, strategy, tasks, engine, shared, progress=progress, looks=looks, baseline=baseline)
    speed = engine.speed
    level = early_stopping.LEVEL if looks else LEVEL
    measures = answers.measures(level=level)
    signature = _signature(cell, tasks[0], engine)
    metrics = cell.metrics or (cell.scenario.primary_metric(),)
    # What trivial programs take is not the model's.
    seconds = time.perf_counter() - started
    own = {name: (kernel.seconds, kernel.calls) for name, kernel in answers.own().items()}
    shown = [task.sample for task in tasks[: len(states)]]
    texts = text_fields(cell.scenario, shown, tasks[0].hidden)
    known = (
        {}
        if naive_baselines is None
        else naive_baselines.find(cell.scenario, shown, answers.resamples, cell.perturbation)
    )
    others = _comparisons(cell, answers, known)
    since = None
    if baseline is not None:
        since = Comparison.to_baseline(answers, signature, baseline, level=level, watched=_watches(cell))
    others |= {} if since is None else {"baseline": since}
    return Outcome(
        cell=cell.id,
        scenario=cell.scenario.name,
        strategy=cell.strategy,
        model=cell.model.name,
        perturbation=cell.perturbation,
        metrics=metrics,
        signature=signature,
        predictions=_with_prompts(answers.predictions, states, shared),
        shared_prompts=shared.shared(),
        measures=measures,
        confusion=_confusion(cell, answers.predictions),
        failures=cautions.failure_counts(answers.predictions),
        verdicts=_unjudged(cell) if only is not None else verdicts(cell.gates, measures, others, policy),
        warnings=_warnings(
            cell,
            [] if only is not None else cautions.on_size(cell, len(tasks)),
            cautions.on_repeats(shown, texts),
            cautions.on_answers(cell.scenario, answers.predictions),
            cautions.on_slow_metrics(own, seconds),
            [] if naive_baselines is None else naive_baselines.left_out(),
        ),
        notes=tuple(engine.backend.notes),
        determinism=check_batch_invariance(strategy, tasks[: len(states)][:determinism], states, engine)
        if determinism
        else None,
        flips=() if since is None else _named(since.pairs.flips(), cell.scenario, shown, texts),
        # Those of perturbed samples are there for gates alone: they would tell the same again and again.
        naive_baselines={} if cell.perturbation else {name: naive.of(metrics) for name, naive in known.items()},
        across=() if only is not None else cell.across,
        replicates=_replicates(cell, answers),
        contrasts=() if since is None else _contrasts(cell, since),
        drift=None if since is None or since.series is None else since.series.drift(),
        left_out=len(tasks) - len(states),
        usage=Usage.total(prediction.usage for prediction in answers.predictions),
        speed=speed,
        seconds=seconds,
    )


def _refuse_unchanged(cell: Cell, strategy: Strategy, tasks: Sequence[Task], twins: Sequence[Task]) -> None:
    """Refuse a perturbation of something that the prompts do not show: no answer could tell anything about it."""
    if asks_alike(strategy, zip(tasks, twins, strict=True)):
        msg = (
            f"{cell.id}: {cell.perturbation} changed no prompt, so the model was not asked the same {len(tasks)} again"
        )
        raise UnchangedError(msg)


def _picked(tasks: Sequence[Task], only: Collection[str] | None) -> list[Task]:
    """The tasks of the samples to ask; a `SettingsError` where the data have none of them any more."""
    picked = [task for task in tasks if only is None or task.sample.id in only]
    if not picked:
        msg = f"none of the {len(only or ())} samples to ask is among the {len(tasks)} of this run; ask all again"
        raise SettingsError(msg)
    return picked


def _unjudged(cell: Cell) -> tuple[Verdict, ...]:
    return tuple(not_run(gate, "not judged: only samples whose answers had turned were asked") for gate in cell.gates)


def _ask(
    cell: Cell,
    strategy: Strategy,
    tasks: Sequence[Task],
    engine: Engine,
    shared: SharedPrompts,
    *,
    progress: Progress | None,
    looks: Sequence[int],
    baseline: Entry | None,
) -> tuple[list[ConversationState], ScoredPredictions]:
    """Hold the conversations about all samples, or about so many as decide the gates at a look."""
    states: list[ConversationState] = []
    answers = ScoredPredictions(cell.scenario, (), seed=cell.seed)

    def tell(answered: int, _: int) -> None:
        if progress is not None:
            progress(len(states) + answered, len(tasks))

    for end in (*looks, len(tasks)):
        states += run_conversations(
            [strategy.converse(task) for task in tasks[len(states) : end]], engine, tell, shared
        )
        predictions = [_prediction(strategy, task, state) for task, state in zip(tasks, states, strict=False)]
        answers = ScoredPredictions(cell.scenario, predictions, seed=cell.seed)
        if end < len(tasks) and early_stopping.decided(cell, answers, len(tasks), baseline):
            break
    if progress is not None:
        progress(len(states), len(states))
    return states, answers


def _comparisons(
    cell: Cell, answers: ScoredPredictions, naive_baselines: Mapping[str, NaiveBaseline]
) -> dict[str, Comparison]:
    """With the references that the cell's gates name."""
    named = {gate.naive for gate in cell.gates}
    return {
        f"naive.{name}": Comparison.to_naive_baseline(answers, f"naive.{name}", naive)
        for name, naive in naive_baselines.items()
        if name in named
    }


def _replicates(cell: Cell, answers: ScoredPredictions) -> dict[str, BootstrapReplicates]:
    """What is needed to hold the cell against another one: by a gate, or against a perturbed twin."""
    metrics = {*cell.compared_metrics, *(gate.metric for gate in cell.across)}
    replicates = (answers.replicates(metric) for metric in sorted(metrics))
    return {found.metric: found for found in replicates if found is not None}


def _contrasts(cell: Cell, baseline: Comparison) -> tuple[Contrast, ...]:
    """With the baseline, where comparisons were asked for."""
    replicates = (baseline.pairs.replicates(metric) for metric in cell.compared_metrics)
    return tuple(contrast(cell.id, baseline.name, *pair, seed=cell.seed) for pair in replicates if pair is not None)


def _watches(cell: Cell) -> bool:
    """Whether a gate is about the series of the cell's baselines."""
    return any(gate.word == DRIFT for gate in cell.gates)


def template_of(cell: Cell, strategy: Strategy, project: Path | None) -> Template:
    """The template of a cell; a `TemplateError` names the file to create."""
    return find_template(cell.scenario.template_folder or cell.scenario.name, strategy.templates, project=project)


def rows_of(cell: Cell, strategy: Strategy) -> tuple[tuple[Sample, ...], tuple[Mapping[str, object], ...]]:
    """The samples of a cell, and the examples that all its prompts show; a `SettingsError` where these are too few."""
    samples = draw_samples(cell.scenario, cell.samples, cell.seed)
    if not strategy.shots:
        return samples, ()
    return samples, example_rows(cell.scenario, strategy.shots, cell.seed, {sample.id for sample in samples})


def tasks_of(
    cell: Cell, strategy: Strategy, project: Path | None, perturbations: Mapping[str, Perturbation] | None = None
) -> list[Task]:
    """One task for each sample, in the order of the draw; the examples are never perturbed."""
    generation = resolve_generation(strategy, cell.generation)
    template = template_of(cell, strategy, project)
    samples, examples = rows_of(cell, strategy)
    hidden = hidden_fields(cell.scenario, samples)
    if cell.perturbation is not None:
        perturbation = parse_perturbation(cell.perturbation, perturbations)
        texts = text_fields(cell.scenario, samples, hidden)
        samples = tuple(perturb(cell.scenario, sample, perturbation, cell.seed, texts) for sample in samples)
    return [
        Task(
            scenario=cell.scenario,
            sample=sample,
            template=template,
            examples=examples,
            hidden=hidden,
            generation=generation,
            seed=cell.seed,
        )
        for sample in samples
    ]


def _prediction(strategy: Strategy, task: Task, state: ConversationState) -> Prediction:
    sample, answer = task.sample, state.answer
    if answer is None or not answer.responses:
        msg = f"the strategy answered sample {sample.id!r} without a response; expected Answer(responses=...)"
        raise EngineError(msg)
    failure = failure_of(task, answer, state.last, final_line=strategy.final_line)
    return Prediction(
        sample_id=sample.id,
        gold=sample.gold,
        answer=answer.value if failure is None else None,
        raw=tuple(response.text for response in answer.responses),
        probabilities=answer.probabilities,
        logprobs=tuple(value for response in answer.responses for value in response.logprobs),
        finish=answer.responses[-1].finish,
        failure=None if failure is None else failure.cause,
        parsed=None if failure is None else failure.parsed,
        units=sample.units,
        fields=sample.fields,
        usage=state.usage,
    )


def _named(
    flips: Sequence[Flip], scenario: Scenario, samples: Sequence[Sample], texts: Sequence[str]
) -> tuple[Flip, ...]:
    """The flips with the texts of their samples, where an id says nothing to people."""
    if scenario.key is not None:
        return tuple(flips)
    known = {sample.id: beginning(sample, texts) for sample in samples}
    return tuple(replace(flip, text=known[flip.sample_id]) for flip in flips)


def _with_prompts(
    predictions: Sequence[Prediction], states: Sequence[ConversationState], shared: SharedPrompts
) -> tuple[Prediction, ...]:
    """The predictions with their prompts, once it is known what all of these begin with."""
    return tuple(
        replace(prediction, prompts=tuple(None if kept is None else shared.rest(kept) for kept in state.prompts))
        for prediction, state in zip(predictions, states, strict=True)
    )


def _confusion(cell: Cell, predictions: Sequence[Prediction]) -> dict[str, dict[str, int]]:
    if not cell.scenario.kind.closed:
        return {}
    return confusion_matrix(predictions, cell.scenario.valid_labels())


def _signature(cell: Cell, task: Task, engine: Engine) -> dict[str, object]:
    """Everything that could change the numbers; any task of the cell tells the template and how to decode."""
    source, generation = cell.scenario.source(), task.generation
    return {
        "data": None if source is None else {"file": source.name, "sha256": source.digest},
        "template_sha256": task.template.digest,
        "perturbation": cell.perturbation,
        "samples": cell.samples,
        "seed": cell.seed,
        "generation": {name: getattr(generation, name) for name in generation.__slots__},
        "engine": dict(engine.backend.signature),
    }


def _warnings(cell: Cell, *sentences: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{cell.id}: {sentence}" for each in sentences for sentence in each)
