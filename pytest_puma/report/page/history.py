"""The primary metric of a cell in earlier runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint:
    """The value in one run, with its interval. `note`: what changed since the run before, such as the engine."""

    run: str
    number: int | None
    commit: str
    date: str
    value: float
    low: float
    high: float
    note: str = ""
