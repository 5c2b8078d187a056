"""The list of a project's runs, and the trend of a metric, as tables for the terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_puma.report import table
from pytest_puma.report.notes import starred
from pytest_puma.report.rows import bounds, interval, number, signed
from pytest_puma.report.table import Column
from pytest_puma.runs.rows import RunRow

if TYPE_CHECKING:
    from pytest_puma.runs.trend import Step

RUNS = (
    Column(title="#", right=True),
    Column(title="run", names=True),
    # The name of a run has it too.
    Column(title="when (UTC)", leaves=1),
    Column(title="commit", names=True),
    Column(title="cells", right=True, leaves=4),
    Column(title="failed", right=True),
    Column(title="kept", right=True, leaves=2),
    Column(title="answers", right=True, leaves=3),
)
TREND = (
    Column(title="#", right=True),
    Column(title="when (UTC)", leaves=2, trails="{} UTC"),
    Column(title="commit", names=True),
    Column(title="n", right=True),
    Column(title="value", right=True),
    Column(title="95 % interval"),
    Column(title="change", right=True),
    Column(title="95 % interval", leaves=3, trails="change in {}"),
    Column(title=""),
    Column(title="changed since", leaves=1, trails="changed since: {}"),
)
_NAME = re.compile(r"(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})")


def runs(rows: Sequence[RunRow], width: int) -> list[str]:
    """Return a row for each run."""
    return table.lines(RUNS, [_run(row) for row in rows], width) if rows else []


def trend(cell: str, metric: str, steps: Sequence[Step], width: int) -> list[str]:
    """Return the title, a row for each run, and the notes behind the stars."""
    stars = starred((step.row.measure.note, f"run {step.row.run.number}") for step in steps)
    return [f"{cell}: {metric}", *table.lines(TREND, [_step(step) for step in steps], width), *stars]


def merged(finished: Iterable[RunRow], unfinished: Sequence[RunRow]) -> Iterator[RunRow]:
    """Yield all runs, the newest first; those without a number stand at the place of their name."""
    waiting = list(unfinished)
    for row in finished:
        while waiting and waiting[0].name > row.name:
            yield waiting.pop(0)
        yield row
    yield from waiting


def _run(row: RunRow) -> tuple[str, ...]:
    if row.number is None:
        return ("-", row.name, when(row), row.state, *[""] * 4)
    counts = (str(row.cells), str(row.failed), f"{row.kept:,}", f"{row.answers:,}")
    return (str(row.number), row.name, when(row), commit(row), *counts)


def when(row: RunRow) -> str:
    """Return the start in UTC: `2026-11-25 12:40`."""
    if row.started:
        return row.started[:16].replace("T", " ")
    match = _NAME.match(row.name)
    return "{}-{}-{} {}:{}".format(*match.groups()) if match else ""


def commit(row: RunRow) -> str:
    """Return `main@3f2c1d9`, with `(dirty)` if there were uncommitted changes."""
    return f"{row.invocation.revision}{' (dirty)' if row.invocation.dirty else ''}"


def _step(step: Step) -> tuple[str, ...]:
    row, measure = step.row, step.row.measure
    has_change = not math.isnan(step.change)
    return (
        str(row.run.number),
        when(row.run),
        commit(row.run),
        str(measure.n),
        f"{number(measure.value)}{'*' if measure.note else ''}",
        interval(measure),
        signed(step.change) if has_change else "",
        bounds(*step.interval, measure.level),
        step.verdict,
        ", ".join(step.changed),
    )
