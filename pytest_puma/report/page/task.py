"""The task of a cell, as far as the page needs it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_puma.core import Direction, Outcome
from pytest_puma.task_types import KINDS, TaskKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The `type` of a task, its valid answers, whether they are steps of a scale, and its primary metric."""

    type: str
    labels: tuple[str, ...]
    ordered: bool
    primary: str
    better: Direction

    @property
    def kind(self) -> TaskKind:
        """The kind of task, by its type."""
        return KINDS[self.type]


def task_of(outcome: Outcome) -> Task:
    """Return the task, as the numbers of its outcome show it."""
    kind = "completion"
    if outcome.confusion:
        kind = "classification"
    elif "mae" in outcome.measures:
        kind = "regression"
    elif "accuracy" in outcome.measures:
        kind = "choice"
    return Task(
        type=kind,
        labels=tuple(outcome.confusion),
        ordered="within_one" in outcome.measures,
        primary=outcome.primary,
        better=outcome.measures[outcome.primary].better if outcome.primary else "neither",
    )
