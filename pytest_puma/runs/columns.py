"""The columns of queries to the index, and the rows that are made of them."""

from __future__ import annotations

import json
import math
from typing import Any

from pytest_puma.core import Invocation
from pytest_puma.runs.rows import MeasureRow, RunRow

#: The columns of a `RunRow`.
RUN = 'number, name, started, seconds, "commit", branch, dirty, ci, command, cells, failed, answers, kept'
#: The columns of a `MeasureRow`, before those of its run.
MEASURE = """
    value, low, high, level, n, (SELECT text FROM text WHERE id = better), (SELECT text FROM text WHERE id = note),
    (SELECT text FROM text WHERE id = verdicts), (SELECT text FROM text WHERE id = signature)
"""


def null(number: float) -> float | None:
    """Return a number for a column; SQLite has no NaN."""
    return None if math.isnan(number) else number


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def run_row(row: tuple[Any, ...]) -> RunRow:
    """Make the row of a run from the columns `RUN`."""
    number, name, started, seconds, commit, branch, dirty, ci, command, cells, failed, answers, kept = row
    return RunRow(
        name=name,
        number=number,
        started=started,
        seconds=_number(seconds),
        invocation=Invocation(commit=commit, branch=branch, dirty=bool(dirty), ci=ci, command=command),
        cells=cells,
        failed=failed,
        answers=answers,
        kept=kept,
    )


def measure_row(cell: str, metric: str, row: tuple[Any, ...]) -> MeasureRow:
    """Make the row of a measure from the columns `MEASURE` and `RUN`."""
    value, low, high, level, n, better, note, verdicts, signature, *run = row
    return MeasureRow(
        run=run_row(tuple(run)),
        cell=cell,
        metric=metric,
        value=_number(value),
        low=_number(low),
        high=_number(high),
        level=level,
        n=n,
        better=better,
        note=note,
        verdicts=tuple(filter(None, verdicts.split(";"))),
        signature=json.loads(signature),
    )
