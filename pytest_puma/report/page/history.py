"""The primary metric of each cell in earlier runs of the project."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.codec.plain import storable
from pytest_puma.core import Outcome, Run
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.index import History
from pytest_puma.runs.trend import Step, steps

_MAX_RUNS = 50
#: Folders between a run folder and its project: `runs` and `.puma`.
_BETWEEN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint:
    """The value in one run, with its interval. `note`: what changed since the run before, such as the engine."""

    run: str
    number: int | None
    commit: str
    date: str
    value: float
    low: float
    high: float
    note: str = ""


def history_of(run: Run, folder: Path | None) -> Mapping[str, tuple[HistoryPoint, ...]]:
    """Return the newest values up to a run, the oldest first, by cell; none for a folder outside of a project."""
    above = () if folder is None else folder.parents
    if folder is None or len(above) <= _BETWEEN or runs_of(above[_BETWEEN]) != folder.parent:
        return {}
    # The run itself reports an index that cannot be read: its page lacks the trend, and nothing else.
    with suppress(OSError, sqlite3.Error), closing(History(above[_BETWEEN])) as history:
        return {outcome.cell: _points(history, outcome, run) for outcome in run.outcomes}
    return {}


def _points(history: History, outcome: Outcome, run: Run) -> tuple[HistoryPoint, ...]:
    rows = history.trend(storable(outcome.cell), storable(outcome.primary), last=_MAX_RUNS)
    last = math.inf if run.number is None else run.number
    earlier = [row for row in rows if row.run.number is not None and row.run.number <= last]
    return tuple(map(_point, steps(earlier)))


def _point(step: Step) -> HistoryPoint:
    row = step.row
    return HistoryPoint(
        run=row.run.name,
        number=row.run.number,
        commit=row.run.invocation.revision,
        date=row.run.started,
        value=row.measure.value,
        low=row.measure.low,
        high=row.measure.high,
        note=f"{', '.join(step.changed)} changed" if step.changed else "",
    )
