"""How well each label of a classification is recognised: F1 of each cell, as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_puma.core import Outcome, TaskInfo
from pytest_puma.report.rows import number

#: Labels that fit beside each other.
_MAX_LABELS = 16


@dataclass(frozen=True, slots=True)
class Bar:
    """F1 as text, and as a number for its bar."""

    value: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTable:
    """A row of bars for each cell, one for each label; None where a cell has no value."""

    labels: tuple[str, ...]
    rows: tuple[tuple[Outcome, tuple[Bar | None, ...]], ...]


def label_table(task: TaskInfo, outcomes: Sequence[Outcome]) -> LabelTable | None:
    """Return the table of the cells without perturbations and variants; None for too many labels and other tasks."""
    plain = [outcome for outcome in outcomes if outcome.name.perturbation is None and outcome.name.variant is None]
    rows = [(outcome, tuple(_bar(outcome, label) for label in task.labels)) for outcome in plain]
    rows = [(outcome, bars) for outcome, bars in rows if any(bars)]
    return LabelTable(labels=task.labels, rows=tuple(rows)) if rows and len(task.labels) <= _MAX_LABELS else None


def _bar(outcome: Outcome, label: str) -> Bar | None:
    measure = outcome.measures.get(f"per_class.{label}.f1")
    if measure is None or math.isnan(measure.value):
        return None
    return Bar(number(measure.value), round(measure.value, 3))
