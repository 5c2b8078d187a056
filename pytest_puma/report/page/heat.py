"""The primary metric of a scenario as a table of strategies and models, in ten shades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from pytest_puma.core import Measure, Outcome, TaskInfo
from pytest_puma.report.rows import number

SHADES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatCell:
    """A cell: its `value` as text, its `shade` (0 for the lowest value, None without one), and whether it fails."""

    cell: str
    value: str
    shade: int | None
    best: bool
    missed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """A line of cells for each strategy, None where no cell ran, and a column for each model."""

    metric: str
    models: tuple[str, ...]
    lines: tuple[tuple[str, tuple[HeatCell | None, ...]], ...]


def heat_map(task: TaskInfo, outcomes: Sequence[Outcome]) -> HeatMap | None:
    """Return the table; None without several strategies and several models, as the table of cells has the same."""
    cells = {(each.shown, each.model): each for each in outcomes if task.primary in each.measures}
    strategies, models = (dict.fromkeys(name[axis] for name in cells) for axis in (0, 1))
    if min(len(strategies), len(models)) < 2:  # noqa: PLR2004 - several
        return None
    measures = [each.measures[task.primary] for each in cells.values()]
    values = [each.value for each in measures if math.isfinite(each.value)]
    scale = _Shades.over(measures)
    best = {"high": max, "low": min}.get(task.better)
    chosen = best(values) if best and values else math.nan

    def shown(outcome: Outcome) -> HeatCell:
        value = outcome[task.primary]
        return HeatCell(
            cell=outcome.cell,
            value=number(value),
            shade=scale.shade(value),
            best=value == chosen,
            missed=bool(outcome.failed),
        )

    lines = (
        (strategy, tuple(shown(cells[strategy, model]) if (strategy, model) in cells else None for model in models))
        for strategy in strategies
    )
    return HeatMap(metric=task.primary, models=tuple(models), lines=tuple(lines))


@dataclass(frozen=True, slots=True)
class _Shades:
    """The shades from the lowest value on; `span`: at least a typical interval, so that chance has little colour."""

    low: float
    span: float

    @classmethod
    def over(cls, measures: Sequence[Measure]) -> _Shades:
        values = [each.value for each in measures if math.isfinite(each.value)]
        widths = [width for each in measures if math.isfinite(width := each.high - each.low)]
        if not values:
            return cls(0.0, 0.0)
        return cls(min(values), max(max(values) - min(values), median(widths) if widths else 0.0))

    def shade(self, value: float) -> int | None:
        if not math.isfinite(value):
            return None
        return min(int(SHADES * (value - self.low) / self.span), SHADES - 1) if self.span else 0
