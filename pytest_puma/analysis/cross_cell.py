"""Gates about several cells, judged when all cells of a run are there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pytest_puma.core import BootstrapReplicates, Gate, Measure, Outcome, Policy, Verdict
from pytest_puma.gates import judge, judge_change, not_run
from pytest_puma.metrics import paired_change
from pytest_puma.stats.selection import Selected, select


def verdicts(outcomes: Sequence[Outcome], policy: Policy) -> list[Verdict]:
    """The verdicts on every gate of these cells that is about several; a reason begins with the cells' common name."""
    gates = dict.fromkeys(gate for outcome in outcomes for gate in outcome.cross_cell_gates)
    return [
        replace(verdict, reason=f"{name}: {verdict.reason}")
        for gate in gates
        for name, group in _groups(gate, outcomes).items()
        for verdict in [_picked(gate, group) if gate.pick else _compared(gate, group, policy)]
    ]


def _groups(gate: Gate, outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """The cells of the gate that are held together: those that differ along its axis alone."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if gate in outcome.cross_cell_gates:
            groups.setdefault(outcome.name.without(gate.axis or "strategy").common_name, []).append(outcome)
    return groups


def _picked(gate: Gate, group: Sequence[Outcome]) -> Verdict:
    """By the best, or the worst, of the cells that have the metric, as it would be on other samples.

    The greatest of several measured numbers is too great, even where all cells are equally good: the value is corrected
    for the choice, and the interval holds for whichever cell is chosen.
    """
    measured = [each for each in group if gate.metric in each.measures and each.measures[gate.metric].n]
    if not measured:
        return not_run(gate, f"no cell has {gate.metric}")
    known = [each for each in measured if not math.isnan(each[gate.metric])] or measured
    found = _selected(gate, known)
    chosen = known[found.place]
    one = chosen.model if gate.axis == "model" else chosen.strategy
    measure = chosen.measures[gate.metric]
    verdict = judge(gate, {gate.metric: _corrected(measure, found, chosen.replicates[gate.metric])})
    told = f"{gate.pick} of {len(known)}, {one}: {verdict.reason}"
    if len(known) > 1:
        told += f"; corrected for choosing the {gate.pick} of {len(known)}, observed {measure.value:.3g}"
    return replace(verdict, reason=told)


def _selected(gate: Gate, measured: Sequence[Outcome]) -> Selected:
    values = [each.measures[gate.metric].value for each in measured]
    return select(values, [each.replicates[gate.metric].values for each in measured], greatest=gate.pick == "max")


def _corrected(measure: Measure, found: Selected, replicates: BootstrapReplicates) -> Measure:
    """Its value, and its interval as wide as the choice makes it, but within what the metric can be."""
    low, high = (measure.value + found.wider * (end - measure.value) for end in (measure.low, measure.high))
    if min(replicates.values) >= 0:
        low = max(low, 0.0)
    if replicates.bounds:
        low, high = max(low, replicates.bounds[0]), min(high, replicates.bounds[1])
    return replace(measure, value=found.value, low=min(low, found.value), high=max(high, found.value))


def _compared(gate: Gate, group: Sequence[Outcome], policy: Policy) -> Verdict:
    """Two strategies, sample by sample."""
    cells = {each.strategy: each for each in group}
    absent = [name for name in (gate.strategy, gate.other) if name not in cells]
    if absent:
        return not_run(gate, f"{gate} was not judged: no cell of {' and '.join(map(str, absent))} ran")
    replicates = [cells[name or ""].replicates.get(gate.metric) for name in (gate.strategy, gate.other)]
    if replicates[0] is None or replicates[1] is None:
        return not_run(gate, f"{gate} was not judged: {gate.metric} was not measured in both")
    if replicates[0].samples != replicates[1].samples:
        return not_run(gate, f"{gate} was not judged: the two were not asked the same samples")
    change = paired_change(replicates[0], replicates[1], quotient=gate.quotient)
    verdict = judge_change(gate, change, str(gate.other), policy)
    return replace(verdict, reason=f"{gate.strategy}: {verdict.reason}")
