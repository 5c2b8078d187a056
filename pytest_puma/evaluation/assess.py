"""From predictions to the outcome of a cell: measure, compare, judge. No model is needed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from threadpoolctl import threadpool_limits

from pytest_puma.analysis import cautions, early_stopping
from pytest_puma.analysis.naive_baselines import NaiveBaselines
from pytest_puma.analysis.verdicts import Comparison, verdicts
from pytest_puma.baseline.entry import Entry
from pytest_puma.core import (
    LEVEL,
    BootstrapReplicates,
    DeclaredScore,
    Measure,
    Outcome,
    Policy,
    Prediction,
    TaskInfo,
    Usage,
    Verdict,
)
from pytest_puma.datasets.fields import text_fields
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.comparisons import (
    against_baseline,
    against_naive_baselines,
    cautions_on_baseline,
    contrasts_with,
    find_naive_baselines,
    flips_since,
)
from pytest_puma.evaluation.groups import measure_cell, shown_metrics
from pytest_puma.evaluation.predict import CellPredictions
from pytest_puma.gates.judge import not_run
from pytest_puma.metrics import ScoredPredictions, calibration_bins, confusion_matrix, score, source_of

Number = TypeVar("Number")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Context of an assessment: what to compare the answers with, and the policy for doubt.

    `no_baseline`: why there is no baseline, and what to do, if there is none.
    `quotes`: whether sentences quote the samples.
    """

    baseline: Entry | None = None
    naive_baselines: NaiveBaselines | None = None
    policy: Policy = field(default_factory=Policy)
    no_baseline: str = "there is no baseline yet; --puma-update-baseline makes one"
    quotes: bool = True


def assess(cell: Cell, answered: CellPredictions, context: Context) -> Outcome:
    """Measure the predictions of a cell and judge its gates."""
    # The matrices are small: a second thread would hardly compute, but keep a core busy while it waits.
    with threadpool_limits(1, user_api="blas"):
        return _assessed(cell, answered, context)


def _assessed(cell: Cell, answered: CellPredictions, context: Context) -> Outcome:
    started = time.perf_counter()
    level = early_stopping.LEVEL if answered.looked else LEVEL
    predictions = score(cell.scenario, answered.samples, answered.predictions, cell.scores)
    scored = ScoredPredictions(cell.scenario, predictions, seed=cell.seed, metrics=cell.scores)
    shown = shown_metrics(cell, scored)
    measures = _measurable(measure_cell(cell, scored, shown, level=level), answered)
    # Without the time of naive baselines, which is not the model's.
    seconds = answered.seconds + time.perf_counter() - started
    texts = text_fields(cell.scenario, answered.samples, answered.hidden) if context.quotes else ()
    naive = find_naive_baselines(cell, answered, scored, context.naive_baselines, shown)
    baseline = against_baseline(cell, answered, scored, context.baseline, level)
    comparisons = against_naive_baselines(cell, scored, naive) | ({} if baseline is None else {"baseline": baseline})
    judged = _verdicts(cell, answered, measures, comparisons, context)
    compared = cautions_on_baseline(cell, answered, baseline, judged)
    return Outcome(
        cell=cell.id,
        scenario=cell.scenario.name,
        strategy=cell.strategy.name,
        model=cell.model.name,
        perturbation=cell.name.perturbation,
        task=_task(cell, scored),
        metrics=shown,
        signature=answered.signature,
        predictions=predictions,
        shared_prompts=answered.shared_prompts,
        measures=measures,
        confusion=_confusion(cell, predictions),
        calibration=calibration_bins(scored.table),
        failures=cautions.failure_counts(predictions),
        verdicts=judged,
        warnings=_warnings(cell, answered, scored, texts, seconds, context.naive_baselines, compared),
        notes=answered.notes,
        determinism=answered.determinism,
        flips=flips_since(cell, answered, baseline, texts),
        # Those of perturbed samples exist for gates alone: reports would repeat the same rows.
        naive_baselines={} if cell.perturbation else {name: each.of(shown) for name, each in naive.items()},
        cross_cell_gates=cell.cross_cell_gates if answered.complete else (),
        replicates=_measurable(_replicates(cell, scored), answered),
        contrasts=() if baseline is None else contrasts_with(cell, baseline),
        drift=None if baseline is None or baseline.series is None else baseline.series.drift(),
        samples=len(answered.samples),
        trials=len(answered.predictions),
        left_out=answered.planned - len(answered.samples),
        usage=Usage.total(prediction.usage for prediction in answered.predictions),
        speed=answered.speed,
        kept=answered.kept,
        seconds=seconds,
    )


def unassessed(cell: Cell, answered: CellPredictions) -> Outcome:
    """The outcome of a cell whose assessment failed: its predictions alone."""
    return Outcome(
        cell=cell.id,
        scenario=cell.scenario.name,
        strategy=cell.strategy.name,
        model=cell.model.name,
        perturbation=cell.name.perturbation,
        metrics=(),
        signature=answered.signature,
        predictions=answered.predictions,
        shared_prompts=answered.shared_prompts,
        measures={},
    )


def _task(cell: Cell, scored: ScoredPredictions) -> TaskInfo:
    primary = cell.scenario.primary_metric()
    statistic = scored.statistic(primary)
    declared = (
        DeclaredScore(
            name=name,
            better=metric.better,
            unit=metric.unit,
            bounds=metric.bounds,
            pooled=metric.pool is not None,
            interval=metric.interval,
        )
        for metric in cell.scores
        for name in metric.names
        if metric.per != "cell"
    )
    return TaskInfo(
        type=cell.scenario.task_type,
        labels=tuple(cell.scenario.valid_labels()),
        ordered=cell.scenario.ordered,
        primary=primary,
        better="neither" if statistic is None else statistic.better,
        keyed=cell.scenario.key is not None,
        scores=tuple(declared),
    )


def _measurable(numbers: Mapping[str, Number], answered: CellPredictions) -> dict[str, Number]:
    """The numbers by metric, without those that the answers cannot have."""
    return {name: each for name, each in numbers.items() if source_of(name) not in answered.unmeasured}


def _verdicts(
    cell: Cell,
    answered: CellPredictions,
    measures: Mapping[str, Measure],
    comparisons: Mapping[str, Comparison],
    context: Context,
) -> tuple[Verdict, ...]:
    """The verdicts of the gates of a cell; NOT RUN for those on metrics that the answers cannot have."""
    if not answered.complete:
        return tuple(not_run(gate, "not judged: only samples with changed answers were asked") for gate in cell.gates)
    reasons = {
        gate: f"{gate.metric} {answered.unmeasured[source]}"
        for gate in cell.gates
        if not gate.word and (source := source_of(gate.metric)) in answered.unmeasured
    }
    gates = [gate for gate in cell.gates if gate not in reasons]
    judged = verdicts(gates, measures, comparisons, context.policy, no_baseline=context.no_baseline)
    by_gate = {verdict.gate: verdict for verdict in judged}
    return tuple(not_run(gate, reasons[gate]) if gate in reasons else by_gate[gate] for gate in cell.gates)


def _replicates(cell: Cell, scored: ScoredPredictions) -> dict[str, BootstrapReplicates]:
    """Replicates for comparisons with other cells: of the metrics of cross-cell gates, and of those to compare."""
    metrics = {*cell.compared_metrics, *(gate.metric for gate in cell.cross_cell_gates)}
    replicates = (scored.replicates(metric) for metric in sorted(metrics))
    return {each.metric: each for each in replicates if each is not None}


def _confusion(cell: Cell, predictions: Sequence[Prediction]) -> Mapping[str, Mapping[str, int]]:
    return confusion_matrix(predictions, cell.scenario.valid_labels()) if cell.scenario.kind.closed else {}


def _warnings(  # noqa: PLR0917
    cell: Cell,
    answered: CellPredictions,
    scored: ScoredPredictions,
    texts: Sequence[str],
    seconds: float,
    naive_baselines: NaiveBaselines | None,
    compared: Sequence[str],
) -> tuple[str, ...]:
    own = {name: (kernel.seconds, kernel.calls) for name, kernel in scored.own().items()}
    sentences = [
        *answered.warnings,
        *(cautions.on_size(cell.samples, answered.planned) if answered.complete else ()),
        *compared,
        *cautions.on_repeats(answered.samples, texts),
        *cell.scenario.remarks(answered.samples),
        *cautions.on_answers(cell.scenario, answered.predictions),
        *cautions.on_slow_metrics(own, seconds),
        *(() if naive_baselines is None else naive_baselines.left_out()),
    ]
    return tuple(f"{cell.id}: {sentence}" for sentence in sentences)
