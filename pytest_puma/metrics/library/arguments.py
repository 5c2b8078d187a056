"""Arguments of metrics: what a scenario's `context(item)` returns for a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_puma.core import Sample, SettingsError


def argument(sample: Sample, name: str, *, metric: str, expected: str, valid: Callable[[Any], bool]) -> Any:
    """Return an argument of a metric. Raises a `SettingsError` if the sample has none, or an invalid one.

    `expected` describes the values that `valid` accepts.
    """
    if name in sample.context and valid(sample.context[name]):
        return sample.context[name]
    given = f"{sample.context[name]!r}" if name in sample.context else "nothing"
    msg = (
        f"{metric}: the context of sample {sample.id!r} has {given} as {name!r}; expected {expected}; "
        f"return it from the scenario's context(item)"
    )
    raise SettingsError(msg)


def optional(
    sample: Sample, name: str, default: Any, *, metric: str, expected: str, valid: Callable[[Any], bool]
) -> Any:
    """Return an argument of a metric, or its default if the sample has none."""
    if name not in sample.context:
        return default
    return argument(sample, name, metric=metric, expected=expected, valid=valid)


def is_count(value: Any) -> bool:
    """Whether a value is a whole number from 1."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
