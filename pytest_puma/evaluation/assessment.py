"""The assessment of a cell: everything that follows from its predictions, each part made once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from pytest_puma.analysis import cautions, early_stopping
from pytest_puma.analysis.naive_baselines import NaiveBaseline, NaiveBaselines
from pytest_puma.analysis.verdicts import Comparison, verdicts
from pytest_puma.baseline.entry import SUBJECTS, Entry
from pytest_puma.core import (
    LEVEL,
    BootstrapReplicates,
    Contrast,
    DeclaredScore,
    Flip,
    Policy,
    TaskInfo,
    Verdict,
)
from pytest_puma.core.gate import DRIFT
from pytest_puma.core.metric_name import MetricName
from pytest_puma.datasets.fields import all_rows, beginning, text_fields
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.groups import measure_cell, shown_metrics
from pytest_puma.evaluation.predict import CellPredictions
from pytest_puma.gates.judge import not_run, unmeasured
from pytest_puma.judges.agreement import AGREEMENT, WEAK, is_compared, labelled_elsewhere, only_verdict, wanted_labels
from pytest_puma.metrics import ScoredPredictions, contrast, score, source_of

_PARTIAL = "not judged: only samples with changed answers were asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Context of an assessment: what to compare the answers with, and the policy for doubt.

    `no_baseline`: why there is no baseline, and what to do, if there is none.
    `grid`: grams of CO2 for a kilowatt-hour, 0 if unknown.
    `quotes`: whether sentences quote the samples. `unjudged`: why no gate is judged; empty if they are.
    """

    baseline: Entry | None = None
    naive_baselines: NaiveBaselines | None = None
    policy: Policy = field(default_factory=Policy)
    no_baseline: str = "there is no baseline yet; --puma-update-baseline makes one"
    quotes: bool = True
    unjudged: str = ""
    grid: float = 0.0


class Assessment:
    """The measures, comparisons, verdicts and warnings of the predictions of a cell.

    `level`: the confidence level of its intervals; `shown`: the metrics that reports show; `seconds`: the time of the
    cell, without that of naive baselines, which is not the model's.
    """

    def __init__(self, cell: Cell, answered: CellPredictions, context: Context) -> None:
        started = time.perf_counter()
        self.cell, self.answered, self.context = cell, answered, context
        self.level = early_stopping.LEVEL if answered.looked else LEVEL
        predictions = score(cell.scenario, answered.samples, answered.predictions, cell.scores)
        self.scored = ScoredPredictions(cell.scenario, predictions, seed=cell.seed, metrics=cell.scores)
        self.shown = shown_metrics(cell, self.scored)
        self.measures = measure_cell(cell, self.scored, self.shown, level=self.level, without=answered.unmeasured)
        self.seconds = answered.seconds + time.perf_counter() - started

    @cached_property
    def naive(self) -> Mapping[str, NaiveBaseline]:
        """The naive baselines by name, none if they are off."""
        cell, programs = self.cell, self.context.naive_baselines
        if programs is None:
            return {}
        return programs.find(
            cell.scenario,
            self.answered.samples,
            self.scored.resamples,
            cell.name.perturbation,
            metrics=cell.scores,
            only=self.shown,
        )

    @cached_property
    def baseline(self) -> Comparison | None:
        """The comparison with the stored baseline, None without one."""
        stored = self.context.baseline
        if stored is None:
            return None
        watched = any(gate.word == DRIFT for gate in self.cell.gates)
        return Comparison.to_baseline(self.scored, self.answered.signature, stored, level=self.level, watched=watched)

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts of the gates of the cell; NOT RUN for those on metrics that the answers cannot have."""
        gates, lacking = self.cell.gates, self.answered.unmeasured
        if unjudged := self.context.unjudged or ("" if self.answered.complete else _PARTIAL):
            return tuple(not_run(gate, unjudged) for gate in gates)
        reasons = {
            gate: f"{gate.metric} {lacking[source]}"
            for gate in gates
            if not gate.word and (source := source_of(gate.metric)) in lacking
        }
        named = {gate.naive for gate in gates}
        comparisons = {
            f"naive.{name}": Comparison.to_naive_baseline(self.scored, f"naive.{name}", program)
            for name, program in self.naive.items()
            if name in named
        } | ({} if self.baseline is None else {"baseline": self.baseline})
        judged = verdicts(
            [gate for gate in gates if gate not in reasons],
            self.measures,
            comparisons,
            self.context.policy,
            no_baseline=self.context.no_baseline,
        )
        by_gate = {verdict.gate: self._unless_unreadable(verdict) for verdict in judged}
        return tuple(unmeasured(gate, reasons[gate]) if gate in reasons else by_gate[gate] for gate in gates)

    @property
    def flips(self) -> tuple[Flip, ...]:
        """The flips since the baseline, with the beginnings of their samples."""
        flips = () if self.baseline is None else self.baseline.pairs.flips()
        samples = {sample.id: sample for sample in self.answered.samples} if flips else {}
        return tuple(replace(flip, text=beginning(samples[flip.sample_id], self._texts)) for flip in flips)

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The contrasts with the baseline of the metrics to compare."""
        if self.baseline is None:
            return ()
        cell, name = self.cell, self.baseline.name
        pairs = (self.baseline.pairs.replicates(metric) for metric in cell.compared_metrics)
        return tuple(contrast(cell.id, name, *pair, seed=cell.seed) for pair in pairs if pair is not None)

    @property
    def replicates(self) -> dict[str, BootstrapReplicates]:
        """Replicates for comparisons with other cells: of the metrics of cross-cell gates, and of those to compare."""
        metrics = {*self.cell.compared_metrics, *(gate.metric for gate in self.cell.cross_cell_gates)}
        measurable = sorted(metric for metric in metrics if source_of(metric) not in self.answered.unmeasured)
        found = (self.scored.replicates(metric) for metric in measurable)
        return {replicates.metric: replicates for replicates in found if replicates is not None}

    @property
    def task(self) -> TaskInfo:
        """What the scenario asks for."""
        scenario = self.cell.scenario
        primary = scenario.primary_metric()
        statistic = self.scored.statistic(primary)
        declared = (
            DeclaredScore(
                name=name,
                better=metric.better,
                unit=metric.unit,
                bounds=metric.bounds,
                pooled=metric.pool is not None,
                interval=metric.interval,
            )
            for metric in self.cell.scores
            for name in metric.names
            if metric.per != "cell"
        )
        return TaskInfo(
            type=scenario.task_type,
            labels=tuple(scenario.valid_labels()),
            ordered=scenario.ordered,
            primary=primary,
            better="neither" if statistic is None else statistic.better,
            keyed=scenario.key is not None,
            scores=tuple(declared),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """The sentences for every report."""
        cell, answered, programs = self.cell, self.answered, self.context.naive_baselines
        kernels = {name: (kernel.seconds, kernel.calls) for name, kernel in self.scored.own().items()}
        sentences = [
            *answered.warnings,
            *(cautions.on_size(cell.samples, answered.planned) if answered.complete else ()),
            *self._on_baseline(),
            *cautions.on_repeats(answered.samples, self._texts),
            *cell.scenario.remarks(answered.samples),
            *self._on_judges(),
            *self._on_undrawn_labels(),
            *cautions.on_answers(cell.scenario, answered.predictions),
            *cautions.on_slow_metrics(kernels, self.seconds),
            *(() if programs is None else programs.left_out()),
        ]
        return tuple(f"{cell.id}: {sentence}" for sentence in sentences)

    def _on_judges(self) -> Iterator[str]:
        """The sentences on gates whose judge was not compared with people, or hardly agrees with them."""
        samples = self.answered.samples
        for metric in self.cell.gated_judges:
            kappa = self.measures.get(f"{metric.name}{AGREEMENT}")
            if not is_compared(metric, samples):
                yield cautions.on_judge(metric.name, wanted_labels(metric, samples))
                continue
            if self.cell.model.source not in {"answers", "run"} and not labelled_elsewhere(samples):
                yield cautions.on_labels(metric.name)
            if kappa is not None and not kappa.low >= WEAK:
                yield cautions.on_agreement(metric.name, kappa, only_verdict(self.scored.predictions, kappa.metric))

    def _on_undrawn_labels(self) -> list[str]:
        """A sentence if the data may have more rows than were drawn, and people labelled some of these."""
        cell, samples = self.cell, self.answered.samples
        if not cell.judged or cell.every or len(samples) < cell.samples:
            return []
        return cautions.on_undrawn_labels(
            cell.judged, samples, partial(all_rows, cell.scenario, cell.seed, cell.subjects)
        )

    def _unless_unreadable(self, verdict: Verdict) -> Verdict:
        """The verdict of a gate; a failure if the judge has no verdict about too many of the replies behind it."""
        base = MetricName.parse(verdict.gate.metric).base
        asked = next((metric.name for metric in self.cell.judged if base in metric.names), None)
        rate = self.measures.get(f"{asked}.unreadable_rate")
        if rate is None or not rate.value > cautions.TOLERATED_UNREADABLE:
            return verdict
        return replace(verdict, status="FAIL", fails=True, reason=cautions.on_unreadable(verdict.reason, rate.value))

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """The fields that sentences may quote."""
        quoted = self.context.quotes
        return tuple(text_fields(self.cell.scenario, self.answered.samples, self.answered.hidden)) if quoted else ()

    def _on_baseline(self) -> list[str]:
        """The sentences on the samples that only the cell or only its baseline has, and on data that changed."""
        baseline = self.baseline
        if baseline is None:
            return []
        unasked = 0 if self._is_narrower(baseline) else baseline.unasked
        changed = list(baseline.on_changed_data(self.verdicts))
        samples = len(self.answered.samples)
        return changed + cautions.on_baseline(baseline.name, lacking=baseline.lacking, unasked=unasked, samples=samples)

    def _is_narrower(self, baseline: Comparison) -> bool:
        """Whether fewer samples were requested than the data and the baseline have."""
        cell, answered, samples = self.cell, self.answered, len(self.answered.samples)
        if not answered.complete or samples < answered.planned or SUBJECTS in baseline.changed:
            return True
        every = cell.every or answered.planned < cell.samples
        return not every and cell.samples < samples - baseline.lacking + baseline.unasked
