"""A run as CSV: a line for each measure of each cell, with its verdicts; a gate that names no measure has its own line.

cell,scenario,strategy,perturbation,model,metric,value,low,high,level,n,note,verdicts
triage_jira-zero_shot@qwen,triage_jira,zero_shot,,qwen,accuracy,0.66,0.52,0.77,0.95,50,,PASS
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytest_puma.core import Run
from pytest_puma.report import escape

COLUMNS = (
    "cell",
    "scenario",
    "strategy",
    "perturbation",
    "model",
    "metric",
    "value",
    "low",
    "high",
    "level",
    "n",
    "note",
    "verdicts",
)
_NO_NUMBERS = (None,) * 5


def as_csv(run: Run) -> str:
    """Return the CSV text: all digits, empty for NaN; text that begins like a formula gets a `'` in front.

    Several verdicts on one metric are separated by a semicolon and a space.
    """
    return of_rows(COLUMNS, rows(run))


def of_rows(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return the CSV text of any rows: empty for None and NaN, JSON for a list or an object."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(escape.csv, columns))
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return text.getvalue()


def rows(run: Run) -> Iterator[dict[str, object]]:
    """Yield each measure of each cell under `COLUMNS`, then its gates without a measure, as `no_regression`."""
    for outcome in run.outcomes:
        names = (outcome.cell, outcome.scenario, outcome.strategy, outcome.perturbation or "", outcome.model)
        statuses: dict[str, list[str]] = {}
        for verdict in outcome.verdicts:
            statuses.setdefault(verdict.gate.word or verdict.gate.metric, []).append(verdict.status)
        for measure in outcome.measures.values():
            level = math.nan if math.isnan(measure.low) else measure.level
            numbers = (measure.metric, measure.value, measure.low, measure.high, level, measure.n, measure.note)
            judged = statuses.pop(measure.metric, ())
            yield dict(zip(COLUMNS, (*names, *numbers, "; ".join(judged)), strict=True))
        for name, judged in statuses.items():
            yield dict(zip(COLUMNS, (*names, name, *_NO_NUMBERS, "", "; ".join(judged)), strict=True))


def _cell(value: object) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    is_nested = isinstance(value, list | tuple | dict)
    return escape.csv(json.dumps(value, ensure_ascii=False) if is_nested else value)
