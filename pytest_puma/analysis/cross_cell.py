"""Verdicts of cross-cell gates, judged when all cells of a run are complete."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pytest_puma.analysis.contrasts import why_apart
from pytest_puma.core import Gate, Measure, Outcome, Policy, Verdict
from pytest_puma.gates import judge, judge_change, not_run, nothing_measured
from pytest_puma.metrics import paired_change
from pytest_puma.stats.selection import Selected, select


def verdicts(outcomes: Sequence[Outcome], policy: Policy) -> list[Verdict]:
    """Return the verdicts of all cross-cell gates of these cells; each reason begins with the cells' common name."""
    gates = dict.fromkeys(gate for outcome in outcomes for gate in outcome.cross_cell_gates)
    return [
        replace(verdict, reason=f"{name}: {verdict.reason}")
        for gate in gates
        for name, group in _groups(gate, outcomes).items()
        for verdict in [_picked(gate, group) if gate.pick else _compared(gate, group, policy)]
    ]


def _groups(gate: Gate, outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """The cells of a gate by their common name: those of a group differ only along the gate's axis."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if gate in outcome.cross_cell_gates:
            groups.setdefault(outcome.name.without(gate.axis or "strategy").common_name, []).append(outcome)
    return groups


def _picked(gate: Gate, group: Sequence[Outcome]) -> Verdict:
    """The verdict on the best, or the worst, of the cells that have the metric.

    The maximum of several estimates is biased upwards, even if all cells are equally good: the value is corrected for
    the selection, and the interval is valid for whichever cell is selected.
    """
    having = [each for each in group if gate.metric in each.measures]
    measured = [each for each in having if each.measures[gate.metric].n]
    if not having:
        return not_run(gate, f"no cell has {gate.metric}")
    if not measured or (len(measured) < len(having) and _needs_all(gate)):
        empty = next(each for each in having if each not in measured)
        verdict = nothing_measured(gate, empty.measures[gate.metric])
        return replace(verdict, reason=f"{_along(gate, empty)}: {verdict.reason}")
    candidates = [each for each in measured if not math.isnan(each[gate.metric])] or measured
    selected = _selected(gate, candidates)
    chosen = candidates[selected.place]
    measure = chosen.measures[gate.metric]
    verdict = judge(gate, {gate.metric: _corrected(measure, selected)})
    reason = f"{gate.pick} of {len(candidates)}, {_along(gate, chosen)}: {verdict.reason}"
    if len(candidates) > 1:
        reason += f"; corrected for choosing the {gate.pick} of {len(candidates)}, observed {measure.value:.3g}"
    return replace(verdict, reason=reason)


def _needs_all(gate: Gate) -> bool:
    """Whether the gate limits the worst cell, so that a cell without a value is no reason to look at the others."""
    return (gate.pick == "min") == (gate.op in {">=", ">"})


def _along(gate: Gate, outcome: Outcome) -> str:
    """The model or the strategy of a cell, whichever the gate compares."""
    return outcome.model if gate.axis == "model" else outcome.strategy


def _selected(gate: Gate, measured: Sequence[Outcome]) -> Selected:
    replicates = [each.replicates[gate.metric] for each in measured]
    values = [each.measures[gate.metric].value for each in measured]
    resampled = [each.values for each in replicates]
    return select(values, resampled, greatest=gate.pick == "max", bounds=replicates[0].bounds)


def _corrected(measure: Measure, selected: Selected) -> Measure:
    """The value and the interval, corrected for the selection."""
    low, high = selected.interval(measure.low, measure.high)
    return replace(measure, value=selected.value, low=low, high=high)


def _compared(gate: Gate, group: Sequence[Outcome], policy: Policy) -> Verdict:
    """The verdict on two strategies, compared sample by sample."""
    cells = {each.strategy: each for each in group}
    absent = [name for name in (gate.strategy, gate.other) if name not in cells]
    if absent:
        return not_run(gate, f"{gate} was not judged: no cell of {' and '.join(map(str, absent))} ran")
    measures = (cells[name or ""].measures.get(gate.metric) for name in (gate.strategy, gate.other))
    if empty := next((each for each in measures if each is not None and not each.n), None):
        return nothing_measured(gate, empty)
    replicates = [cells[name or ""].replicates.get(gate.metric) for name in (gate.strategy, gate.other)]
    if replicates[0] is None or replicates[1] is None:
        return not_run(gate, f"{gate} was not judged: {gate.metric} was not measured in both")
    if replicates[0].samples != replicates[1].samples:
        why = why_apart(*(cells[name or ""] for name in (gate.strategy, gate.other)))
        return not_run(gate, f"{gate} was not judged: {why}")
    change = paired_change(replicates[0], replicates[1], quotient=gate.quotient)
    verdict = judge_change(gate, change, str(gate.other), policy)
    return replace(verdict, reason=f"{gate.strategy}: {verdict.reason}")
