"""The main table of a run as rows, for the terminal and for Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pytest_puma.core import LEVEL, Change, Measure, Outcome, Prediction, Verdict
from pytest_puma.report.table import Column

COLUMNS = (
    Column(title="scenario", leaves=4, heads=True),
    Column(title="strategy", names=True),
    Column(title="model", leaves=3, heads=True),
    Column(title="n", right=True, leaves=5),
    Column(title="metric", names=True),
    Column(title="value", right=True),
    Column(title="95 % interval"),
    Column(title="parse failures", right=True, leaves=6),
    Column(title="tokens", right=True, leaves=1),
    Column(title="s", right=True, leaves=2),
    Column(title="verdict"),
)
HEADERS = tuple(column.title for column in COLUMNS)
_WORST = ("FAIL", "INCONCLUSIVE", "NO BASELINE", "NOT RUN", "PASS")
#: Maximum number of characters of a text in a line about an answer.
_BRIEF = 80
#: The metric with a column of its own.
_PARSE_FAILURES = "parse_failure_rate"


def brief(text: str) -> str:
    """Return a text in one line of at most 80 characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _BRIEF else f"{flat[: _BRIEF - 3].rstrip()}..."


def gold_of(prediction: Prediction) -> str:
    """Return the ground truths in brief."""
    return brief(" | ".join(prediction.golds)) or "none"


def number(value: float) -> str:
    """Format with three significant digits, without an exponent for common sizes."""
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if 1 <= abs(value) < 1000 else f"{value:.3g}"  # noqa: PLR2004 - three digits


def signed(value: float) -> str:
    """Format a change: `+0.02`."""
    return number(value) if math.isnan(value) else f"{'+' if value > 0 else ''}{number(value)}"


def interval(measure: Measure | Change) -> str:
    """Format `[0.41, 0.52]`, empty if there is no interval; a level other than that of the header is added."""
    level = "" if measure.level == LEVEL else f" at {100 * measure.level:g} %"
    return "" if math.isnan(measure.low) else f"[{number(measure.low)}, {number(measure.high)}]{level}"


def all_rows(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """Return the rows under `HEADERS`: each cell, and the naive baselines behind the last cell of a scenario."""
    last = {outcome.scenario: outcome.cell for outcome in outcomes}
    naive = {outcome.scenario: _naive_rows(outcome) for outcome in outcomes if outcome.naive_baselines}
    return [
        row
        for outcome in outcomes
        for row in [
            *_rows(outcome),
            *(naive.get(outcome.scenario, ()) if last[outcome.scenario] == outcome.cell else ()),
        ]
    ]


def shown(outcome: Outcome) -> list[str]:
    """Return the metrics with a row: the requested ones that the cell has, then those of its gates.

    A one-word gate has a row of its own. Parse failures have a column, so they get a row only if a gate on them is not
    kept or is the only gate.
    """
    names = [name for name in outcome.metrics if name in outcome.measures]
    judged = {
        each.gate.metric for each in outcome.verdicts if each.gate.metric != _PARSE_FAILURES or each.status != "PASS"
    }
    gated = (each.gate.metric for each in outcome.verdicts if each.gate.metric in judged or not judged)
    return list(dict.fromkeys((*names, *gated)))


def _rows(outcome: Outcome) -> list[tuple[str, ...]]:
    failures = outcome.measures[_PARSE_FAILURES].value
    computed = outcome.usage.prompt_tokens - outcome.usage.cached_tokens + outcome.usage.decoded_tokens
    costs = (f"{failures:.0%}", f"{computed:,}", f"{outcome.seconds:.1f}")
    lines = []
    for place, metric in enumerate(shown(outcome)):
        verdicts = [each for each in outcome.verdicts if each.gate.metric == metric]
        names = ("", "", "") if place else (outcome.scenario, outcome.shown, outcome.model)
        measured = _measured(metric, outcome.measures.get(metric), verdicts)
        worst = _worst(verdicts) if verdicts or not place else ""
        lines.append((*names, *measured, *(("", "", "") if place else costs), worst))
    return lines


def _naive_rows(outcome: Outcome) -> list[tuple[str, ...]]:
    """Return a row for each measure of the naive baselines, without costs and verdict."""
    return [
        (*(("", "", "") if place else (outcome.scenario, f"naive.{name}", "")), *_cells(measure), "", "", "", "")
        for name, measures in outcome.naive_baselines.items()
        for place, measure in enumerate(measures.values())
    ]


def _measured(metric: str, measure: Measure | None, verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """Return the cells of a measure; for a one-word gate its p-value; a dash for a metric that was not measured."""
    if measure is not None:
        return _cells(measure)
    p = next((each.p for each in verdicts if each.p is not None), math.nan)
    return ("", metric, "-" if math.isnan(p) else f"p={number(p)}", "")


def _cells(measure: Measure) -> tuple[str, ...]:
    value = number(measure.value) + ("*" if measure.note else "")
    return (str(measure.n), measure.metric, value, interval(measure))


def _worst(verdicts: Sequence[Verdict]) -> str:
    """Return the worst status, a dash without verdicts."""
    statuses = {each.status for each in verdicts}
    return next((status for status in _WORST if status in statuses), "-")
