"""The main table of a run as rows, for the terminal, for Markdown and for the HTML page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_puma.core import LEVEL, REGRESSION_LEVEL, Change, Measure, Outcome, Verdict
from pytest_puma.core.gate import REGRESSION
from pytest_puma.phrases import one_line
from pytest_puma.report.table import TextColumn, texts

#: Maximum number of characters of a text in a line about an answer.
_BRIEF = 80
_MIN_P = 0.001
#: The metric with a column of its own.
_PARSE_FAILURES = "parse_failure_rate"


def brief(text: str) -> str:
    """Return a text in one line of at most 80 characters."""
    return one_line(text, _BRIEF - len("..."))


def number(value: float) -> str:
    """Format with three significant digits, without an exponent for common sizes."""
    if math.isnan(value):
        return "-"
    value += 0.0  # -0.0 becomes 0.0
    return f"{value:.2f}" if 1 <= abs(value) < 1000 else f"{value:.3g}"  # noqa: PLR2004 - three digits


def signed(value: float) -> str:
    """Format a change: `+0.02`."""
    return number(value) if math.isnan(value) else f"{'+' if value > 0 else ''}{number(value)}"


def difference(change: Change) -> str:
    """Format the change of a metric: `+0.02`, or `x 1.3` for a quotient."""
    return f"x {number(change.value)}" if change.quotient else signed(change.value)


def interval(measure: Measure | Change) -> str:
    """Format `[0.41, 0.52]`, empty if there is no interval; a level other than that of the header is added."""
    return bounds(measure.low, measure.high, measure.level)


def bounds(low: float, high: float, level: float) -> str:
    """Format an interval of these ends, as `interval` does."""
    at = "" if level == LEVEL else f" at {100 * level:g} %"
    return "" if math.isnan(low) else f"[{number(low)}, {number(high)}]{at}"


def p_value(value: float) -> str:
    """Format a p-value with three decimals."""
    return f"under {_MIN_P}" if value < _MIN_P else f"{value:.3f}"


def parse_failures(outcome: Outcome) -> str:
    """Return the share of parse failures."""
    rate = outcome.measures.get(_PARSE_FAILURES)
    return "-" if rate is None else f"{rate.value:.0%}"


def computed_tokens(outcome: Outcome) -> int:
    """Return the number of tokens that were computed, not read from the cache."""
    usage = outcome.execution.usage
    return usage.prompt_tokens - usage.cached_tokens + usage.decoded_tokens


def seconds(outcome: Outcome) -> str:
    """Return the seconds of a cell; `kept` or `read` if no answer was computed, as they are no time of the model."""
    share = outcome.execution.kept
    kept = 0 if share is None else share.kept
    if share is not None and kept == share.responses > 0:
        return "kept"
    if not kept and _is_read(outcome):
        return "read"
    return f"{outcome.execution.seconds:.1f}{' + kept' if kept else ''}"


def _is_read(outcome: Outcome) -> bool:
    """Whether the answers come from a file or from a run that is rescored: they have tokens, but none was computed."""
    speed = outcome.execution.speed
    computed = speed.prefill_tokens + speed.decode_tokens
    return "answers" in outcome.execution.signature.get("engine", {}) or (computed_tokens(outcome) > 0 and not computed)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """A metric of a cell with one of its gates, or without any; or a metric of a naive baseline on its samples.

    `first`: the first row of the cell, or of the naive baseline. `measure`: None for a one-word gate, and for a metric
    that was not measured. `judged`: the verdict on the gate.
    """

    outcome: Outcome
    metric: str
    measure: Measure | None
    first: bool
    judged: Verdict | None = None
    naive: str = ""

    @property
    def named(self) -> str:
        """The metric and its cell, for a sentence."""
        of = f"{self.naive} in {self.outcome.name.scenario}" if self.naive else self.outcome.cell
        return f"{self.metric} of {of}"

    @property
    def value(self) -> str:
        """The value with a star for a note; of a one-word gate the p-value; else a dash."""
        if self.measure is not None:
            return number(self.measure.value) + ("*" if self.measure.note else "")
        p = None if self.judged is None else self.judged.p
        return "-" if p is None or math.isnan(p) else f"p={number(p)}"

    @property
    def gate(self) -> str:
        """What the gate requires of the metric, without its name: `>= baseline - 0.02 (0.74)`; empty without a gate."""
        if self.judged is None:
            return ""
        gate = self.judged.gate
        rule = gate.rule if not gate.word else f"p > {REGRESSION_LEVEL:g}" if gate.word == REGRESSION else ""
        compared = "" if gate.other is None or math.isnan(self.limit) else f" ({number(self.limit)})"
        return f"{rule}{compared}{'' if gate.doubt is None else f' !{gate.doubt}'}".strip()

    @property
    def limit(self) -> float:
        """The limit on the scale of the metric; NaN if there is none, or it is about other samples than the value."""
        if self.judged is None or self.judged.gate.word:
            return math.nan
        gate, change = self.judged.gate, self.judged.change
        if gate.other is None:
            return gate.limit
        if change is None or self.measure is None or not math.isclose(change.new, self.measure.value):
            return math.nan
        return change.old * gate.limit if gate.quotient else change.old + gate.limit

    @property
    def opens_cell(self) -> bool:
        """Whether it is the first row of a cell, which shows its numbers, and not that of a naive baseline."""
        return self.first and not self.naive

    @property
    def verdict(self) -> str:
        """The status; a dash for a first row without a gate, empty for a further one."""
        if self.judged is not None:
            return self.judged.status
        return "-" if self.opens_cell else ""


def _of_cell(text: Callable[[Outcome], str]) -> Callable[[MetricRow], str]:
    """Return the function for a text about a whole cell, which its first row shows."""
    return lambda row: text(row.outcome) if row.opens_cell else ""


COLUMNS: tuple[TextColumn[MetricRow], ...] = (
    TextColumn("scenario", lambda row: row.outcome.name.scenario if row.first else "", leaves=4, heads="{}"),
    TextColumn(
        "strategy", lambda row: (row.naive or row.outcome.name.shown) if row.first else "", leaves=6, heads="{}"
    ),
    TextColumn("model", _of_cell(lambda outcome: outcome.name.model), leaves=3, heads="{}"),
    TextColumn("n", lambda row: "" if row.measure is None else str(row.measure.n), right=True),
    TextColumn("metric", lambda row: row.metric, names=True),
    TextColumn("value", lambda row: row.value, right=True),
    TextColumn("95 % interval", lambda row: "" if row.measure is None else interval(row.measure)),
    TextColumn("parse failures", _of_cell(parse_failures), right=True, leaves=5, heads="{} parse failures"),
    TextColumn("tokens", _of_cell(lambda outcome: f"{computed_tokens(outcome):,}"), right=True, leaves=1),
    TextColumn("s", _of_cell(seconds), right=True, leaves=2),
    TextColumn("verdict", lambda row: row.verdict),
    TextColumn("gate", lambda row: row.gate, names=True),
)


def metric_rows(outcomes: Sequence[Outcome]) -> Iterator[MetricRow]:
    """Yield the rows of each cell, and those of the naive baselines behind the last cell of a scenario."""
    last = {outcome.name.scenario: outcome.cell for outcome in outcomes}
    naive = {outcome.name.scenario: outcome for outcome in outcomes if outcome.tables.naive_baselines}
    for outcome in outcomes:
        yield from _rows(outcome)
        if last[outcome.name.scenario] == outcome.cell and outcome.name.scenario in naive:
            yield from _naive_rows(naive[outcome.name.scenario])


def all_rows(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """Return the rows under `COLUMNS`."""
    return [texts(COLUMNS, row) for row in metric_rows(outcomes)]


def throughput(outcomes: Iterable[Outcome]) -> str:
    """Return `1.2 answers and 345 tokens a second`, of the cells whose answers were all computed; empty without any."""
    timed = [cell for cell in outcomes if seconds(cell) == f"{cell.execution.seconds:.1f}" and computed_tokens(cell)]
    time = sum(cell.execution.seconds for cell in timed)
    if not time:
        return ""
    answers, tokens = sum(cell.execution.trials for cell in timed), sum(map(computed_tokens, timed))
    return f"{number(answers / time)} answers and {tokens / time:,.0f} tokens a second"


def _rows(outcome: Outcome) -> Iterator[MetricRow]:
    """Yield a row for each gate, in the order of their metrics, and for each metric without one.

    The metrics are the requested ones that the cell has, then those of its gates. A one-word gate has a row of its own.
    Parse failures have a column, so they get a row only for a gate on them.
    """
    requested = (name for name in outcome.metrics if name in outcome.measures)
    first = True
    for metric in dict.fromkeys((*requested, *(verdict.gate.metric for verdict in outcome.judgement.verdicts))):
        measure = outcome.measures.get(metric)
        gates: Sequence[Verdict | None] = [
            verdict for verdict in outcome.judgement.verdicts if verdict.gate.metric == metric
        ]
        for judged in gates or [None]:
            name = metric if measure is None else measure.metric
            yield MetricRow(outcome=outcome, metric=name, measure=measure, first=first, judged=judged)
            first = False


def _naive_rows(outcome: Outcome) -> Iterator[MetricRow]:
    """Yield a row for each measure of the naive baselines."""
    for name, measures in outcome.tables.naive_baselines.items():
        for index, measure in enumerate(measures.values()):
            yield MetricRow(
                outcome=outcome, metric=measure.metric, measure=measure, first=not index, naive=f"naive.{name}"
            )
