"""The verdicts of a cell: each of its gates, held against a measure or against the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_puma.baseline import Entry
from pytest_puma.core import Cell, Gate, Measure, Policy, Prediction, Verdict
from pytest_puma.gates import judge, judge_change, not_run, without_baseline
from pytest_puma.metrics import Pairs


def verdicts(
    cell: Cell,
    predictions: Sequence[Prediction],
    measures: Mapping[str, Measure],
    signature: Mapping[str, Any],
    *,
    baseline: Entry | None,
    policy: Policy,
) -> tuple[Verdict, ...]:
    """One for each gate. `baseline` is what the cell was before, None where that is not known."""
    then = None if baseline is None else _Then(cell, predictions, signature, baseline)
    return tuple(judge(gate, measures) if gate.other is None else _compared(gate, then, policy) for gate in cell.gates)


def _compared(gate: Gate, then: _Then | None, policy: Policy) -> Verdict:
    if policy.accepts:
        return not_run(gate, "not compared with the baseline: this run becomes the baseline")
    if then is None:
        return without_baseline(gate, "there is none yet; --puma-update-baseline makes one", policy)
    if not len(then.pairs):
        return without_baseline(gate, f"no sample of this run is among those of {then.name}", policy)
    change = then.pairs.change(gate.metric, quotient=gate.quotient)
    if change is None:
        return not_run(gate, f"{gate.metric} was not measured here or in {then.name}")
    verdict = judge_change(gate, change, then.told, policy)
    return replace(verdict, reason=verdict.reason + then.since)


class _Then:
    """The baseline of a cell beside what it answers now."""

    def __init__(
        self, cell: Cell, predictions: Sequence[Prediction], signature: Mapping[str, Any], entry: Entry
    ) -> None:
        self.pairs = Pairs(cell.scenario, predictions, entry.answers, seed=cell.seed)
        self.name = f"baseline {entry.commit}" if entry.commit else "the baseline"
        common = len(self.pairs)
        #: With the number of samples where they are not the same.
        same = common == len(predictions) == len(entry.answers)
        self.told = self.name if same else f"{self.name} on the {common} samples that both have"
        changed = entry.changed(signature)
        self.since = f"; changed since: {', '.join(changed)}" if changed else ""
