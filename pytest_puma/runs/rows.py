"""The rows of the index: a run, and a measure of a cell in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pytest_puma.core import Direction, Invocation

#: A run without `run.json` was cut off, or is still running; a damaged one has a `run.json` that cannot be read.
State: TypeAlias = Literal["finished", "running", "cut off", "damaged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run in a list.

    `number`: None if the run has no readable `run.json`. `cells`: those with an outcome; `failed`: those of them that
    missed a gate; `answers`: their predictions; `kept`: the responses from the response store. `started`: ISO 8601.
    """

    name: str
    number: int | None = None
    state: State = "finished"
    started: str = ""
    seconds: float = 0.0
    invocation: Invocation = field(default_factory=Invocation)
    cells: int = 0
    failed: int = 0
    answers: int = 0
    kept: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRow:
    """A measure of a cell in a run, with the run, the statuses of its gates, and what could change the number.

    The other fields are those of a `Measure`.
    """

    run: RunRow
    cell: str
    metric: str
    value: float
    low: float
    high: float
    level: float
    n: int
    better: Direction
    note: str
    verdicts: tuple[str, ...]
    signature: Mapping[str, Any]
