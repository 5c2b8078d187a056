"""The main table of a run as rows, for the terminal, for Markdown and for the HTML page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A metric of a cell, or of a naive baseline on its samples, and the verdicts on it.

    `first`: the first row of the cell, or of the naive baseline. `measure`: None for a one-word gate, and for a metric
    that was not measured.
    """

    outcome: Outcome
    metric: str
    measure: Measure | None
    first: bool
    verdicts: tuple[Verdict, ...] = ()
    naive: str = ""

    @property
    def value(self) -> str:
        """The value with a star for a note; of a one-word gate the p-value; else a dash."""
        if self.measure is not None:
            return number(self.measure.value) + ("*" if self.measure.note else "")
        p = next((each.p for each in self.verdicts if each.p is not None), math.nan)
        return "-" if math.isnan(p) else f"p={number(p)}"

    @property
    def verdict(self) -> str:
        """The worst status; a dash for a cell without gates, empty for its further rows."""
        if self.naive or not (self.verdicts or self.first):
            return ""
        statuses = {each.status for each in self.verdicts}
        return next((status for status in _WORST if status in statuses), "-")


def metric_rows(outcomes: Sequence[Outcome]) -> Iterator[Row]:
    """Yield the rows of each cell, and those of the naive baselines behind the last cell of a scenario."""
    last = {outcome.scenario: outcome.cell for outcome in outcomes}
    naive = {outcome.scenario: outcome for outcome in outcomes if outcome.naive_baselines}
    for outcome in outcomes:
        yield from _rows(outcome)
        if last[outcome.scenario] == outcome.cell and outcome.scenario in naive:
            yield from _naive_rows(naive[outcome.scenario])


def all_rows(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """Return the rows under `HEADERS`."""
    return [_cells(row) for row in metric_rows(outcomes)]


def parse_failures(outcome: Outcome) -> str:
    """Return the share of parse failures."""
    return f"{outcome.measures[_PARSE_FAILURES].value:.0%}"


def computed_tokens(outcome: Outcome) -> int:
    """Return the number of tokens that were computed, not read from the cache."""
    return outcome.usage.prompt_tokens - outcome.usage.cached_tokens + outcome.usage.decoded_tokens


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


def _rows(outcome: Outcome) -> Iterator[Row]:
    for place, metric in enumerate(shown(outcome)):
        measure = outcome.measures.get(metric)
        yield Row(
            outcome=outcome,
            metric=metric if measure is None else measure.metric,
            measure=measure,
            first=not place,
            verdicts=tuple(each for each in outcome.verdicts if each.gate.metric == metric),
        )


def _naive_rows(outcome: Outcome) -> Iterator[Row]:
    """Yield a row for each measure of the naive baselines."""
    for name, measures in outcome.naive_baselines.items():
        for place, measure in enumerate(measures.values()):
            yield Row(outcome=outcome, metric=measure.metric, measure=measure, first=not place, naive=f"naive.{name}")


def _cells(row: Row) -> tuple[str, ...]:
    outcome, measure = row.outcome, row.measure
    names: tuple[str, ...] = ("", "", "")
    costs: tuple[str, ...] = ("", "", "")
    if row.first and row.naive:
        names = (outcome.scenario, row.naive, "")
    elif row.first:
        names = (outcome.scenario, outcome.shown, outcome.model)
        costs = (parse_failures(outcome), f"{computed_tokens(outcome):,}", f"{outcome.seconds:.1f}")
    measured = ("", "") if measure is None else (str(measure.n), interval(measure))
    return (*names, measured[0], row.metric, row.value, measured[1], *costs, row.verdict)


def counted(number: int, noun: str) -> str:
    """Return `1 run`, `1,000 runs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
