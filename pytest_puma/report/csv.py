"""A run as CSV: a line for each measure of each cell, with its verdicts.

cell,scenario,strategy,perturbation,model,metric,value,low,high,level,n,note,verdicts
triage_jira-zero_shot@qwen,triage_jira,zero_shot,,qwen,accuracy,0.66,0.52,0.77,0.95,50,,PASS
"""

from __future__ import annotations

import csv
import io
import math

from pytest_puma.core import Outcome, Run
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


def as_csv(run: Run) -> str:
    """Return the CSV text: all digits, empty for NaN; text that begins like a formula gets a `'` in front.

    Several verdicts on one metric are separated by a semicolon and a space.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for outcome in run.outcomes:
        writer.writerows([escape.csv(cell) for cell in line] for line in _lines(outcome))
    return text.getvalue()


def _lines(outcome: Outcome) -> list[list[object]]:
    names = [outcome.cell, outcome.scenario, outcome.strategy, outcome.perturbation or "", outcome.model]
    return [
        [
            *names,
            measure.metric,
            *("" if math.isnan(number) else number for number in (measure.value, measure.low, measure.high)),
            "" if math.isnan(measure.low) else measure.level,
            measure.n,
            measure.note,
            "; ".join(verdict.status for verdict in outcome.verdicts if verdict.gate.metric == measure.metric),
        ]
        for measure in outcome.measures.values()
    ]
