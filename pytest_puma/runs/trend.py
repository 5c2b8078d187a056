"""The trend of a metric: its value in each run, and the change to the run before."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_puma.baseline.entry import changed_parts
from pytest_puma.runs.rows import MeasureRow
from pytest_puma.stats.intervals import Interval, difference_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
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


def steps(rows: Sequence[MeasureRow]) -> Iterator[Step]:
    """Yield a step for each row; the oldest comes first."""
    for row, before in zip(rows, (None, *rows), strict=False):
        if before is None:
            yield Step(row=row)
            continue
        new, old = row.measure, before.measure
        yield Step(
            row=row,
            change=new.value - old.value,
            interval=difference_interval((new.value, new.low, new.high), (old.value, old.low, old.high)),
            changed=tuple(changed_parts(row.signature, before.signature)),
        )
