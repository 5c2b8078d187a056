"""The task of a cell."""

from __future__ import annotations

from pytest_puma.core import Outcome, TaskInfo


def task_of(outcome: Outcome) -> TaskInfo:
    """Return the task of a cell; in a record of an older version, as the numbers show it."""
    if outcome.task is not None:
        return outcome.task
    kind = "completion"
    if outcome.confusion:
        kind = "classification"
    elif "mae" in outcome.measures:
        kind = "regression"
    elif "accuracy" in outcome.measures:
        kind = "choice"
    return TaskInfo(
        type=kind,
        labels=tuple(outcome.confusion),
        ordered="within_one" in outcome.measures,
        primary=outcome.primary,
        better=outcome.measures[outcome.primary].better if outcome.primary else "neither",
    )
