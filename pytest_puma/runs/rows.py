"""The rows of the index: a run, and a measure of a cell in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pytest_puma.core import Invocation, Measure, Run

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

    @classmethod
    def of(cls, name: str, number: int, run: Run) -> RunRow:
        """Make the row of a finished run."""
        outcomes = run.outcomes
        return cls(
            name=name,
            number=number,
            started=run.started,
            seconds=run.seconds,
            invocation=run.invocation,
            cells=len(outcomes),
            failed=len(
                {outcome.node_id for outcome in outcomes if outcome.failed} | {fault.node_id for fault in run.faults}
            ),
            answers=sum(outcome.trials for outcome in outcomes),
            kept=sum(outcome.kept.kept for outcome in outcomes if outcome.kept is not None),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRow:
    """A measure of a cell in a run, with the run, and the signature: all that could change the number."""

    run: RunRow
    measure: Measure
    signature: Mapping[str, Any]
