"""Outcomes of tests: other values in any of their records, and a task that fits their measures."""

from __future__ import annotations

from dataclasses import fields as fields_of
from dataclasses import replace
from typing import Any

from pytest_puma.core import Outcome, TaskInfo


def task_of(outcome: Outcome) -> TaskInfo:
    """The task that has the measures of an outcome."""
    primary = outcome.measures.get(outcome.primary)
    kind = "classification" if "accuracy" in outcome.measures else "completion"
    better = "neither" if primary is None else primary.better
    return TaskInfo(type="regression" if "mae" in outcome.measures else kind, primary=outcome.primary, better=better)


def revised(outcome: Outcome, **fields: Any) -> Outcome:
    """`outcome` with other values of its fields, and of those of its records."""
    for name in ("name", "tables", "judgement", "execution"):
        record = getattr(outcome, name)
        own = {field.name: fields.pop(field.name) for field in fields_of(record) if field.name in fields}
        fields.setdefault(name, replace(record, **own))
    return replace(outcome, **fields)
