"""The list of a project's runs, and the trend of a metric, as tables for the terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_puma.report import table
from pytest_puma.report.notes import starred
from pytest_puma.report.rows import bounds, interval, number, signed
from pytest_puma.report.table import TextColumn
from pytest_puma.runs.rows import RunRow

if TYPE_CHECKING:
    from pytest_puma.runs.rows import TrendStep

_NAME = re.compile(r"(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})")


def when(row: RunRow) -> str:
    """Return the start in UTC: `2026-11-25 12:40`."""
    if row.started:
        return row.started[:16].replace("T", " ")
    match = _NAME.match(row.name)
    return "{}-{}-{} {}:{}".format(*match.groups()) if match else ""


def _value(step: TrendStep) -> str:
    measure = step.row.measure
    return f"{number(measure.value)}{'*' if measure.note else ''}"


RUNS: tuple[TextColumn[RunRow], ...] = (
    TextColumn("#", lambda run: str(run.number), right=True),
    TextColumn("run", lambda run: run.name, names=True),
    # The name of a run has it too.
    TextColumn("when (UTC)", when, leaves=1),
    TextColumn("commit", lambda run: run.invocation.revision, names=True),
    TextColumn("cells", lambda run: str(run.cells), right=True, leaves=4),
    TextColumn("failed", lambda run: str(run.failed), right=True),
    TextColumn("kept", lambda run: f"{run.kept:,}", right=True, leaves=2),
    TextColumn("answers", lambda run: f"{run.answers:,}", right=True, leaves=3),
)
TREND: tuple[TextColumn[TrendStep], ...] = (
    TextColumn("#", lambda step: str(step.row.run.number), right=True),
    TextColumn("when (UTC)", lambda step: when(step.row.run), leaves=2, trails="{} UTC"),
    TextColumn("commit", lambda step: step.row.run.invocation.revision, names=True),
    TextColumn("n", lambda step: str(step.row.measure.n), right=True),
    TextColumn("value", _value, right=True),
    TextColumn("95 % interval", lambda step: interval(step.row.measure)),
    TextColumn("change", lambda step: "" if math.isnan(step.change) else signed(step.change), right=True),
    TextColumn(
        "95 % interval", lambda step: bounds(*step.interval, step.row.measure.level), leaves=3, trails="change in {}"
    ),
    TextColumn("", lambda step: step.verdict),
    TextColumn("changed since", lambda step: ", ".join(step.changed), leaves=1, trails="changed since: {}"),
)


def runs(rows: Sequence[RunRow], width: int) -> list[str]:
    """Return a row for each run."""
    return table.lines(RUNS, [_texts(row) for row in rows], width) if rows else []


def trend(cell: str, metric: str, steps: Sequence[TrendStep], width: int) -> list[str]:
    """Return the title, a row for each run, and the notes behind the stars."""
    stars = starred((step.row.measure.note, f"run {step.row.run.number}") for step in steps)
    return [f"{cell}: {metric}", *table.lines(TREND, [table.texts(TREND, step) for step in steps], width), *stars]


def _texts(row: RunRow) -> tuple[str, ...]:
    """Return the texts under `RUNS`; of an unfinished run only its state is known."""
    if row.number is None:
        return ("-", row.name, when(row), row.state, *[""] * 4)
    return table.texts(RUNS, row)
