"""A measured number: value, interval, and the number of predictions behind it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_puma.core.metric import Direction

#: The confidence level of an interval.
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The value of a metric with its interval and the number of predictions behind it.

    `value` is NaN if there is nothing to measure (n = 0); `low` and `high` are NaN if no interval exists. `note`: a
    caveat for the reader. `level`: the confidence level of the interval. `better`: which values are better. `unit`: of
    the value, empty for a plain number.
    """

    metric: str
    value: float
    low: float
    high: float
    n: int
    note: str = ""
    level: float = LEVEL
    better: Direction = "high"
    unit: str = ""
