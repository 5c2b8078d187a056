"""A missed gate in a few words: `f1_macro 0.11 < 0.3`."""

from __future__ import annotations

import math

from pytest_puma.core import Gate, Verdict
from pytest_puma.core.gate import spelled
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
    if change is not None and not math.isnan(change.value):
        return f"{change.metric} {number(change.new)}, {gate.other} {number(change.old)}: misses {gate.rule}"
    if change is None and measure is not None and not math.isnan(measure.value):
        return f"{measure.metric} {_apart(measure.value, gate)} {_BREAKS[gate.op]} {spelled(gate.limit)}"
    return sentence(verdict)


def _apart(value: float, gate: Gate) -> str:
    """Format a value with enough digits to differ from a limit that it does not equal."""
    texts = (number(value), *(f"{value:.{digits}g}" for digits in range(4, 18)))
    return next((text for text in texts if (float(text) == gate.limit) == (value == gate.limit)), texts[-1])
