"""Arguments of metrics: what a scenario's `context(item)` returns for a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_puma.core import Sample, SettingsError

_REQUIRED = object()


def argument(
    sample: Sample,
    name: str,
    *,
    metric: str,
    expected: str,
    valid: Callable[[Any], bool],
    default: Any = _REQUIRED,
) -> Any:
    """Return an argument of a metric, or its default if the sample has none.

    Raises a `SettingsError` for an invalid one, or for none without a default. `expected` describes the values that
    `valid` accepts.
    """
    value = sample.context.get(name, default)
    if (name not in sample.context and default is not _REQUIRED) or (name in sample.context and valid(value)):
        return value
    given = f"{value!r}" if name in sample.context else "nothing"
    msg = (
        f"{metric}: the context of sample {sample.id!r} has {given} as {name!r}; expected {expected}; "
        f"return it from the scenario's context(item)"
    )
    raise SettingsError(msg)


def original(sample: Sample, metric: str) -> str:
    """Return the context's `original`, the text of the question."""
    text: str = argument(sample, "original", metric=metric, expected="the text of the question", valid=_is_text)
    return text


def is_count(value: Any, *, minimum: int = 1) -> bool:
    """Whether a value is a whole number from the minimum on."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= minimum


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
