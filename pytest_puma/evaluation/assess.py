"""From predictions to the outcome of a cell: measure, compare, judge. No model is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from threadpoolctl import threadpool_limits

from pytest_puma.analysis import cautions
from pytest_puma.core import Execution, Judgement, Measure, Outcome, Tables, TaskInfo, Usage
from pytest_puma.core.responder import NOT_VERIFIED, is_unverified
from pytest_puma.evaluation.assessment import Assessment, Context
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.predict import CellPredictions
from pytest_puma.judges.agreement import confusions
from pytest_puma.metrics import calibration_bins, confusion_matrix, source_of

_JOULES_PER_KWH = 3.6e6

__all__ = ["Context", "assess", "unassessed"]


def assess(cell: Cell, answered: CellPredictions, context: Context) -> Outcome:
    """Measure the predictions of a cell and judge its gates."""
    # The matrices are small: a second thread would hardly compute, but keep a core busy while it waits.
    with threadpool_limits(1, user_api="blas"):
        return _outcome(Assessment(cell, answered, context))


def unassessed(cell: Cell, answered: CellPredictions, node_id: str) -> Outcome:
    """The outcome of a cell whose assessment failed: its predictions alone."""
    return Outcome(
        name=cell.name,
        task=TaskInfo(type=cell.scenario.task_type),
        predictions=answered.predictions,
        metrics=(),
        measures={},
        execution=Execution(signature=answered.signature, shared_prompts=answered.shared_prompts, node_id=node_id),
    )


def _outcome(assessment: Assessment) -> Outcome:
    cell, answered, predictions = assessment.cell, assessment.answered, assessment.scored.predictions
    baseline, scenario = assessment.baseline, cell.scenario
    # Those of perturbed samples exist for gates alone: reports would repeat the same rows.
    naive = (
        {} if cell.perturbation else {name: program.of(assessment.shown) for name, program in assessment.naive.items()}
    )
    return Outcome(
        name=cell.name,
        task=assessment.task,
        predictions=predictions,
        metrics=assessment.shown,
        measures=_marked(cell, assessment.measures, answered, assessment.context.grid),
        tables=Tables(
            confusion=confusion_matrix(predictions, scenario.valid_labels()) if scenario.kind.closed else {},
            calibration=calibration_bins(assessment.scored.table),
            failures=cautions.failure_counts(predictions),
            naive_baselines=naive,
            agreement=confusions(predictions) if cell.judged else {},
        ),
        judgement=Judgement(
            verdicts=assessment.verdicts,
            warnings=assessment.warnings,
            flips=assessment.flips,
            contrasts=assessment.contrasts,
            drift=None if baseline is None or baseline.series is None else baseline.series.drift(),
            cross_cell_gates=cell.cross_cell_gates if answered.complete and not assessment.context.unjudged else (),
            replicates=assessment.replicates,
        ),
        execution=Execution(
            signature=answered.signature,
            shared_prompts=answered.shared_prompts,
            samples=len(answered.samples),
            trials=len(answered.predictions),
            left_out=answered.planned - len(answered.samples),
            usage=Usage.total(prediction.usage for prediction in answered.predictions),
            speed=answered.speed,
            kept=answered.kept,
            kept_of_judges=answered.kept_of_judges,
            seconds=assessment.seconds,
            determinism=answered.determinism,
            notes=answered.notes,
        ),
    )


def _marked(
    cell: Cell, measures: Mapping[str, Measure], answered: CellPredictions, grid: float
) -> Mapping[str, Measure]:
    """The measures, with notes: what else was computed in a latency, the CO2 of energy, and whose weights are unknown.

    `grid`: grams for a kilowatt-hour, 0 if unknown.
    """
    signature = answered.signature
    judge = signature.get("judge")
    judges = judge if isinstance(judge, list) else [judge]
    judged = tuple(metric.name for metric in cell.judged) if any(map(is_unverified, judges)) else ()

    def marked(measure: Measure) -> Measure:
        notes = [measure.note]
        if source_of(measure.metric) == "clock":
            notes.append(_at_once(answered))
        if grid and source_of(measure.metric) == "energy":
            notes.append(f"{measure.value / _JOULES_PER_KWH * grid:.3g} g of CO2 at {grid:g} g/kWh")
        if is_unverified(signature.get("engine")):
            notes.append(f"weights {NOT_VERIFIED}")
        if any(f"{measure.metric}.".startswith((f"{name}.", f"{name}[")) for name in judged):
            notes.append(f"the weights of the judge are {NOT_VERIFIED}")
        return replace(measure, note="; ".join(filter(None, notes)))

    return {name: marked(measure) for name, measure in measures.items()}


def _at_once(answered: CellPredictions) -> str:
    """What else was computed while a request was. Little's law gives the mean number of requests at once."""
    took = sum(prediction.usage.seconds for prediction in answered.predictions)
    requests = sum(len(prediction.transcript.turns) for prediction in answered.predictions)
    computing = answered.speed.prefill_seconds + answered.speed.decode_seconds
    if not computing:
        return "from admission to the end of the reply, while other requests are computed too"
    # A latency includes the time between two batches, too.
    at_once = min(round(took / computing), requests)
    others = "one request at a time" if at_once <= 1 else f"about {at_once} requests at once on average"
    return f"from admission to the end of the reply, {others}"
