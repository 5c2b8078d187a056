"""Sentences on gates: a missed one in a few words, and the last lines on undecided gates, false alarms and power."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pytest_puma.core import Gate, Power, Run, Tally, Verdict
from pytest_puma.core.gate import spelled
from pytest_puma.core.power import bounded_above, percent
from pytest_puma.report.rows import number

_BREAKS = {">=": "<", "<=": ">", ">": "<=", "<": ">="}


def sentence(verdict: Verdict) -> str:
    """Return the reason, with the gate in front if the reason does not begin with the metric."""
    named = verdict.reason.startswith(verdict.gate.metric)
    return verdict.reason if named else f"{verdict.gate}: {verdict.reason}"


def in_short(verdict: Verdict) -> str:
    """Return the value and the limit; the whole sentence if these do not explain the verdict."""
    gate, measure, change = verdict.gate, verdict.measure, verdict.change
    if gate.word:
        return sentence(verdict) if verdict.p is None else f"{gate.word}: p = {number(verdict.p)}"
    if verdict.status != "FAIL":
        return sentence(verdict)
    if change is not None and _misses(gate, change.value, change.low, change.high):
        return f"{change.metric} {number(change.new)}, {gate.other} {number(change.old)}: misses {gate.rule}"
    if change is None and measure is not None and _misses(gate, measure.value, measure.low, measure.high):
        return f"{measure.metric} {_apart(measure.value, gate)} {_BREAKS[gate.op]} {spelled(gate.limit)}"
    return sentence(verdict)


def _misses(gate: Gate, value: float, low: float, high: float) -> bool:
    """Whether the numbers alone miss the limit; a gate also fails as too few verdicts or replies are readable."""
    decided = gate.doubt in {None, "point"} or gate.decided_by(low, high)
    return decided and not math.isnan(value) and not gate.keeps(value)


def _apart(value: float, gate: Gate) -> str:
    """Format a value with enough digits to differ from a limit that it does not equal."""
    texts = (number(value), *(f"{value:.{digits}g}" for digits in range(4, 18)))
    return next((text for text in texts if (float(text) == gate.limit) == (value == gate.limit)), texts[-1])


def closing(run: Run) -> list[str]:
    """Return the lines; none if no gate was judged."""
    tally = run.tally
    verdicts = (verdict for outcome in run.outcomes for verdict in outcome.judgement.verdicts)
    return [
        *([f"{tally.undecided} of {tally.judged} gates could not decide"] if tally.undecided else []),
        *_false_alarms(tally),
        *power_lines((str(verdict.gate), verdict.power) for verdict in verdicts if verdict.power is not None),
    ]


def _false_alarms(counts: Tally) -> list[str]:
    """Report the false alarm rate of gates on a change; a limit on a number is no statistical test."""
    if not counts.on_change:
        return []
    if counts.on_change == 1:
        sentence = "false alarms: if the true change keeps its limit, the gate on a change FAILs in at most "
        return [f"{sentence}{bounded_above(counts.at_most)} of runs"]
    sentence = (
        f"false alarms: if all true changes keep their limits, one or more of the {counts.on_change} gates on a change "
        f"still FAIL in about {percent(counts.false_alarm)} of runs, and in at most {bounded_above(counts.at_most)}"
    )
    return [sentence]


def power_lines(powers: Iterable[tuple[str, Power]]) -> list[str]:
    """Return a line for each gate text and loss, from the cell with the lowest power."""
    alike: dict[tuple[str, str], list[Power]] = {}
    for gate, power in powers:
        alike.setdefault((gate, power.lost), []).append(power)
    return [f"power: {gate}: {_weakest(of_gate)}" for (gate, _), of_gate in alike.items()]


def _weakest(powers: Sequence[Power]) -> str:
    weakest = min(powers, key=lambda power: power.caught)
    return f"{weakest}{f', in the weakest of {len(powers)} cells' if len(powers) > 1 else ''}"
