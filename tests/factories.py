"""The nouns of the product, with defaults for all that a test does not state: `outcome("triage-egi@m")`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from pytest_puma.baseline.entry import Entry
from pytest_puma.core import (
    BootstrapReplicates,
    CellId,
    Change,
    Execution,
    Fault,
    Flip,
    Gate,
    Measure,
    Model,
    Outcome,
    OwnMetric,
    Prediction,
    Run,
    Sample,
    Scenario,
    Status,
    TaskInfo,
    Verdict,
)
from pytest_puma.evaluation.assess import Context
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.metrics import PairedPredictions, ScoredPredictions, pair, source_of
from pytest_puma.perturbations import Perturbation, parse_perturbation
from pytest_puma.scenarios import TriageJiraScenario
from pytest_puma.strategies import Strategy, Task, parse_strategy
from pytest_puma.strategies.template import Template
from pytest_puma.strategies.templates import find_template
from pytest_puma.testing import Engine, ScriptedBackend
from tests.outcomes import revised as revised  # noqa: PLC0414 - as above
from tests.outcomes import task_of
from tests.transcripts import prediction as prediction  # noqa: PLC0414 - for those who make other nouns, too

LABELS = ("A", "B", "C", "D")
POINTS = ("1", "2", "3", "5", "8", "13", "21", "34")


class Triage(Scenario):
    """A classification without data; the parser takes any word in capitals, as a careless scenario might."""

    name: ClassVar[str] = "triage"
    task_type: ClassVar[str] = "classification"
    labels: ClassVar[Sequence[str]] = LABELS

    def __init__(
        self,
        labels: Sequence[str] | None = None,
        *,
        metrics: Mapping[str, OwnMetric] | None = None,
        primary: str | None = None,
    ) -> None:
        self._labels = self.labels if labels is None else labels
        self._metrics, self._primary = metrics or {}, primary

    def sample(self, n: int, seed: int = 42) -> NoReturn:
        raise NotImplementedError

    def gold_label(self, instance: dict[str, Any]) -> str:
        return str(instance["gold"])

    def parse_response(self, response: str) -> str | None:
        match = re.search(r"[A-Z]{2,}", response)
        return match and match[0]

    def valid_labels(self) -> list[str]:
        return list(self._labels)

    def metrics(self) -> Mapping[str, OwnMetric]:
        return self._metrics

    def primary_metric(self) -> str:
        return self._primary or super().primary_metric()


class OrderedTriage(Triage):
    ordered = True


class Estimation(Triage):
    """A regression without data; the parser takes any last word."""

    name: ClassVar[str] = "estimation"
    task_type: ClassVar[str] = "regression"
    labels: ClassVar[Sequence[str]] = POINTS

    def parse_response(self, response: str) -> str | None:
        return response.rsplit(maxsplit=1)[-1] if response.split() else "empty"


def model(name: str = "script") -> Model:
    return Model(name=name, path=Path(f"{name}.gguf"))


def sample(sample_id: str = "x", **fields: Any) -> Sample:
    return replace(Sample(id=sample_id, fields={}, gold="", units=(sample_id,)), **fields)


def cell(
    scenario: Scenario | None = None,
    strategy: str | Strategy = "zero_shot",
    *,
    samples: int = 12,
    gates: Sequence[str] = (),
    cross_cell_gates: Sequence[str] = (),
    perturbation: str | Perturbation | None = None,
    **fields: Any,
) -> Cell:
    return Cell(
        scenario=scenario or TriageJiraScenario(),
        strategy=strategy if isinstance(strategy, Strategy) else parse_strategy(strategy),
        perturbation=parse_perturbation(perturbation) if isinstance(perturbation, str) else perturbation,
        model=model(),
        samples=samples,
        gates=tuple(map(parse_gate, gates)),
        cross_cell_gates=tuple(map(parse_gate, cross_cell_gates)),
        **fields,
    )


def evaluated(cell: Cell, reply: str | Callable[[str], str] | ScriptedBackend = "Major", **options: Any) -> Outcome:
    """The outcome on a scripted model; a text is its answer to every prompt. Options may be fields of the context."""
    script = answering(reply) if isinstance(reply, str) else reply
    context = Context(**{name: options.pop(name) for name in Context.__slots__ if name in options})
    engine = Engine(script if isinstance(script, ScriptedBackend) else ScriptedBackend(script))
    return evaluate(cell, engine, context, **options)


def answering(answer: str) -> Callable[[str], str]:
    return lambda prompt: f"It is so.\nAnswer: {answer}" if "Answer:" in prompt else answer


def task(scenario: Scenario, *, template: Template | None = None, **fields: Any) -> Task:
    template = template or find_template(scenario.name, ["zero_shot"], project=None)
    return replace(Task(scenario=scenario, sample=sample(), wording=template), **fields)


def predictions(
    golds: Sequence[str],
    answers: Sequence[str | None],
    probabilities: Sequence[Mapping[str, float] | None] | None = None,
    *,
    units: Sequence[tuple[str, ...]] | None = None,
) -> list[Prediction]:
    """Predictions for the samples `s0`, `s1`, ...; each is its own unit by default."""
    ids = [f"s{row}" for row in range(len(golds))]
    columns = (ids, golds, answers, probabilities or [None] * len(golds), units or [(each,) for each in ids])
    return [
        prediction(sample_id, gold=gold, answer=answer, probabilities=shares, units=names)
        for sample_id, gold, answer, shares, names in zip(*columns, strict=True)
    ]


def scored(scenario: Scenario, answered: Sequence[Prediction], *, seed: int = 1) -> ScoredPredictions:
    return ScoredPredictions(scenario, answered, seed=seed)


def measured(scenario: Scenario, answered: Sequence[Prediction], *, seed: int = 1) -> dict[str, Measure]:
    return scored(scenario, answered, seed=seed).measures()


def paired(
    scenario: Scenario, new: Sequence[Prediction], old: Sequence[Prediction], *, seed: int = 1
) -> PairedPredictions:
    return pair(scored(scenario, new, seed=seed), {each.key: each for each in old})


def replicates(scenario: Scenario, answered: Sequence[Prediction], metric: str) -> BootstrapReplicates:
    result = scored(scenario, answered, seed=3).replicates(metric)
    assert result is not None
    return result


def measure(
    metric: str = "accuracy", value: float = 0.66, low: float = 0.52, high: float = 0.77, **fields: Any
) -> Measure:
    return replace(Measure(metric=metric, value=value, low=low, high=high, n=50), **fields)


def unmeasured(metric: str) -> Measure:
    return measure(metric, math.nan, math.nan, math.nan, n=0, note="nothing to measure")


def change(metric: str = "accuracy", **fields: Any) -> Change:
    fall = Change(metric=metric, old=0.66, new=0.46, value=-0.2, low=-0.4, high=0.1, n=50, worse=15, better=5)
    return replace(fall, **fields)


def verdict(gate: str | Gate = "accuracy >= 0.5", status: Status = "PASS", reason: str = "", **fields: Any) -> Verdict:
    parsed = parse_gate(gate) if isinstance(gate, str) else gate
    return replace(Verdict(gate=parsed, status=status, reason=reason, fails=status == "FAIL"), **fields)


def flip(sample_id: str = "s0", *, better: bool = False, **fields: Any) -> Flip:
    old, new = ("B", "A") if better else ("A", None)
    return replace(Flip(sample_id=sample_id, gold="A", old=old, new=new, better=better), **fields)


def outcome(cell_id: str = "triage-zero_shot@m", **fields: Any) -> Outcome:
    measures = (measure(), unmeasured("ece"), measure("parse_failure_rate", 0.0, 0.0, 0.07))
    made = Outcome(
        name=CellId.parse(cell_id),
        task=TaskInfo(type="classification"),
        metrics=("accuracy",),
        predictions=(),
        measures={each.metric: each for each in measures},
        execution=Execution(signature={"data": None}, samples=50, trials=50),
    )
    made = revised(made, **fields)
    return made if "task" in fields else replace(made, task=task_of(made))


def computed_outcome(
    cell_id: str, scenario: Scenario, answered: Sequence[Prediction], *, metric: str = "", **fields: Any
) -> Outcome:
    """The outcome of a cell with these answers, and the replicates of a metric: the primary one by default."""
    cell = scored(scenario, answered, seed=3)
    made = cell.replicates(metric or scenario.primary_metric())
    measures = cell.measures(sliced=(metric,) if metric.endswith("]") else ())
    return outcome(cell_id, measures=measures, replicates={made.metric: made} if made else {}, **fields)


def run(*outcomes: Outcome, **fields: Any) -> Run:
    return replace(Run(id="r", started="", environment={}, outcomes=outcomes), **fields)


def fault(cell_id: str = "b@m", when: str = "setup", message: str = "no") -> Fault:
    return Fault(cell=cell_id, node_id=f"t.py::{cell_id[0]}", when=when, message=message)


def entry(stored: Outcome, *, old: Entry | None = None) -> Entry:
    return Entry.of(stored, commit="main@3f2c1d9", test="benchmarks/test_t.py::test_t", source_of=source_of, old=old)
