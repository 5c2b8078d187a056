"""Verdicts of cross-cell gates, judged when all cells of a run are complete."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pytest_puma.analysis.contrasts import common, selected, why_apart
from pytest_puma.core import Gate, Outcome, Policy, Verdict
from pytest_puma.core.gate import PLAIN
from pytest_puma.core.variant import adding_plain
from pytest_puma.gates.judge import judge, judge_change, not_run, nothing_measured, unmeasured
from pytest_puma.metrics import paired_change
from pytest_puma.metrics.library.divergence import is_distance
from pytest_puma.phrases import counted
from pytest_puma.stats.intervals import mean_of_independent


def verdicts(outcomes: Sequence[Outcome], policy: Policy) -> list[Verdict]:
    """Return the verdicts of all cross-cell gates of these cells; each reason begins with the cells' common name."""
    gates = dict.fromkeys(gate for outcome in outcomes for gate in outcome.judgement.cross_cell_gates)
    return [
        replace(verdict, reason=f"{name}: {verdict.reason}")
        for gate in gates
        for name, verdict in (
            _with_plain(gate, outcomes, policy) if gate.other == PLAIN else _of_groups(gate, outcomes, policy)
        )
    ]


def _of_groups(gate: Gate, outcomes: Sequence[Outcome], policy: Policy) -> Iterator[tuple[str, Verdict]]:
    for name, group in _groups(gate, outcomes).items():
        if gate.pick == "mean":
            yield name, _averaged(gate, group)
        else:
            yield name, _picked(gate, group) if gate.pick else _compared(gate, group, policy)


def _with_plain(gate: Gate, outcomes: Sequence[Outcome], policy: Policy) -> Iterator[tuple[str, Verdict]]:
    """The verdict on each variant, compared with its plain model sample by sample."""
    cells = {outcome.name: outcome for outcome in outcomes}
    for outcome in outcomes:
        if gate in outcome.judgement.cross_cell_gates:
            plain = cells.get(outcome.name.without("variant"))
            if plain is None:
                why = f"{outcome.name.plain} did not run: {adding_plain(outcome.name.variant or '')}"
                yield outcome.cell, unmeasured(gate, f"{gate} was not judged: {why}")
            else:
                yield outcome.cell, _paired(gate, outcome, plain, plain.name.model, policy)


def _groups(gate: Gate, outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """The cells of a gate by their common name: those of a group differ only along the gate's axis."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if gate in outcome.judgement.cross_cell_gates:
            groups.setdefault(outcome.name.without(gate.axis or "strategy").common_name, []).append(outcome)
    return groups


def _averaged(gate: Gate, group: Sequence[Outcome]) -> Verdict:
    """The verdict on the mean over scenarios, each with the mean of its cells.

    The scenarios are independent; the cells of one have the same samples, so that their errors do not cancel out.
    """
    if lacking := next((cell for cell in group if gate.metric not in cell.measures), None):
        return not_run(gate, f"{gate} was not judged: {lacking.cell} has no {gate.metric}")
    measures = [cell.measures[gate.metric] for cell in group]
    if empty := next((cell for cell in group if not cell.measures[gate.metric].n), None):
        verdict = nothing_measured(gate, empty.measures[gate.metric])
        return replace(verdict, reason=f"{empty.cell}: {verdict.reason}")
    scenarios: dict[str, list[tuple[float, float, float]]] = {}
    for cell, measure in zip(group, measures, strict=True):
        scenarios.setdefault(cell.name.scenario, []).append((measure.value, measure.low, measure.high))
    rows = [np.mean(cells, axis=0) for cells in scenarios.values()]
    value, low, high = mean_of_independent(np.array(rows))
    total = replace(measures[0], value=value, low=low, high=high, n=sum(measure.n for measure in measures), note="")
    verdict = judge(gate, {gate.metric: total})
    parts = ", ".join(f"{name} {row[0]:.3g}" for name, row in zip(scenarios, rows, strict=True))
    return replace(verdict, reason=f"mean of {counted(len(rows), 'scenario')} ({parts}): {verdict.reason}")


def _picked(gate: Gate, group: Sequence[Outcome]) -> Verdict:
    """The verdict on the best, or the worst, of the cells that have the metric.

    The maximum of several estimates is biased upwards, even if all cells are equally good: the value is corrected for
    the selection, and the interval is valid for whichever cell is selected.
    """
    having = [cell for cell in group if gate.metric in cell.measures]
    measured = [cell for cell in having if cell.measures[gate.metric].n]
    if not having:
        return unmeasured(gate, f"no cell has {gate.metric}")
    # A limit on the worst cell needs all: a cell without a value is no reason to look at the others.
    on_worst = (gate.pick == "min") == gate.is_floor
    lacking = [cell.cell for cell in group if cell not in having and _should_have(gate, cell)]
    if on_worst and lacking:
        return unmeasured(gate, f"{gate} was not judged: {lacking[0]} has no {gate.metric}")
    if not measured or (on_worst and len(measured) < len(having)):
        empty = next(cell for cell in having if cell not in measured)
        verdict = nothing_measured(gate, empty.measures[gate.metric])
        return replace(verdict, reason=f"{_along(gate, empty)}: {verdict.reason}")
    candidates = [cell for cell in measured if not math.isnan(cell[gate.metric])] or measured
    best = selected(candidates, gate.metric, greatest=gate.pick == "max")
    chosen = candidates[best.place]
    measure = chosen.measures[gate.metric]
    low, high = best.interval(measure.low, measure.high)
    verdict = judge(gate, {gate.metric: replace(measure, value=best.value, low=low, high=high)})
    reason = f"{gate.pick} of {len(candidates)}, {_along(gate, chosen)}: {verdict.reason}"
    if len(candidates) > 1:
        reason += f"; corrected for choosing the {gate.pick} of {len(candidates)}, observed {measure.value:.3g}"
    return replace(verdict, reason=reason)


def _should_have(gate: Gate, outcome: Outcome) -> bool:
    """Whether a cell that lacks the metric could have it: another strategy may not give it, nor a plain model."""
    is_plain = outcome.name.variant is None and is_distance(gate.metric)
    return gate.axis != "strategy" and not is_plain


def _along(gate: Gate, outcome: Outcome) -> str:
    """The model or the strategy of a cell, whichever the gate compares."""
    return outcome.name.strategy if gate.axis == "strategy" else outcome.name.model


def _compared(gate: Gate, group: Sequence[Outcome], policy: Policy) -> Verdict:
    """The verdict on two strategies, compared sample by sample."""
    cells = {cell.name.strategy: cell for cell in group}
    names = [str(gate.strategy), str(gate.other)]
    if absent := [name for name in names if name not in cells]:
        return not_run(gate, f"{gate} was not judged: no cell of {' and '.join(absent)} ran")
    new, old = (cells[name] for name in names)
    return _paired(gate, new, old, names[1], policy, beginning=f"{names[0]}: ")


def _why_apart(metric: str, new: Outcome, old: Outcome) -> str:
    """Why the values of a metric in two cells cannot be compared sample by sample."""
    lacking = [cell for cell in (new, old) if metric not in cell.judgement.replicates]
    if not lacking:
        return why_apart(new, old)
    if all(metric in cell.measures for cell in lacking):
        return f"{lacking[0].cell} does not compare {metric}; name it in metrics= of its test"
    return f"{metric} was not measured in both"


def _paired(gate: Gate, new: Outcome, old: Outcome, against: str, policy: Policy, *, beginning: str = "") -> Verdict:
    """The verdict on a cell that is compared with another one, sample by sample; `beginning`: that of its reason."""
    measures = (cell.measures.get(gate.metric) for cell in (new, old))
    if empty := next((measure for measure in measures if measure is not None and not measure.n), None):
        return nothing_measured(gate, empty)
    both = common(new, old, gate.metric)
    if both is None:
        return unmeasured(gate, f"{gate} was not judged: {_why_apart(gate.metric, new, old)}")
    verdict = judge_change(gate, paired_change(*both, quotient=gate.quotient), against, policy)
    return replace(verdict, reason=f"{beginning}{verdict.reason}")
