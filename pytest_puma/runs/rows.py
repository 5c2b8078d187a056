"""The rows of lists: a run, a measure of a cell in a run, and a step of the trend of a measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pytest_puma.baseline.entry import changed_parts
from pytest_puma.core import Invocation, Measure, Run
from pytest_puma.stats.intervals import Interval, difference_interval

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
                {outcome.execution.node_id for outcome in outcomes if outcome.failed}
                | {fault.node_id for fault in run.faults}
            ),
            answers=sum(outcome.execution.trials for outcome in outcomes),
            kept=sum(outcome.execution.kept.kept for outcome in outcomes if outcome.execution.kept is not None),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRow:
    """A measure of a cell in a run, with the run, and the signature: all that could change the number."""

    run: RunRow
    measure: Measure
    signature: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendStep:
    """A run in a trend.

    `change`: to the run before, NaN in the first one; `interval`: of the change, if the samples of both runs were
    independent, so that it is too wide for the same samples. `changed`: the parts of the signature that differ, as a
    step of the engine or of the data is no step of the model.
    """

    row: MeasureRow
    change: float = math.nan
    interval: Interval = (math.nan, math.nan)
    changed: tuple[str, ...] = ()

    @property
    def real(self) -> bool:
        """Whether the interval of the change excludes 0."""
        low, high = self.interval
        return low > 0 or high < 0

    @property
    def verdict(self) -> str:
        """`better`, `worse`, or `changed` if no direction is better; empty if the change may be chance."""
        if not self.real:
            return ""
        if self.row.measure.better == "neither":
            return "changed"
        return "better" if (self.change > 0) == (self.row.measure.better == "high") else "worse"


def steps(rows: Sequence[MeasureRow]) -> Iterator[TrendStep]:
    """Yield a step for each row; the oldest comes first."""
    for row, before in zip(rows, (None, *rows), strict=False):
        if before is None:
            yield TrendStep(row=row)
            continue
        new, old = row.measure, before.measure
        yield TrendStep(
            row=row,
            change=new.value - old.value,
            interval=difference_interval((new.value, new.low, new.high), (old.value, old.low, old.high)),
            changed=tuple(changed_parts(row.signature, before.signature)),
        )
