"""The primary metric of a scenario as a table of strategies and models, in ten shades."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
    cells = {(outcome.shown, outcome.model): outcome for outcome in outcomes if task.primary in outcome.measures}
    strategies, models = (dict.fromkeys(name[axis] for name in cells) for axis in (0, 1))
    if min(len(strategies), len(models)) < 2:  # noqa: PLR2004 - several
        return None
    measures = [outcome.measures[task.primary] for outcome in cells.values()]
    values = [measure.value for measure in measures if math.isfinite(measure.value)]
    shade = _shades(measures)
    best = {"high": max, "low": min}.get(task.better)
    chosen = best(values) if best and values else math.nan

    def shown(outcome: Outcome) -> HeatCell:
        value = outcome[task.primary]
        return HeatCell(
            cell=outcome.cell,
            value=number(value),
            shade=shade(value),
            best=value == chosen,
            missed=bool(outcome.failed),
        )

    lines = (
        (strategy, tuple(shown(cells[strategy, model]) if (strategy, model) in cells else None for model in models))
        for strategy in strategies
    )
    return HeatMap(metric=task.primary, models=tuple(models), lines=tuple(lines))


def _shades(measures: Sequence[Measure]) -> Callable[[float], int | None]:
    """The shade of a value, from the lowest one on; a typical interval has all shades, so that chance has few."""
    values = [measure.value for measure in measures if math.isfinite(measure.value)]
    widths = [width for measure in measures if math.isfinite(width := measure.high - measure.low)]
    low = min(values, default=0.0)
    span = max(max(values) - low, median(widths) if widths else 0.0) if values else 0.0

    def shade(value: float) -> int | None:
        if not math.isfinite(value):
            return None
        return min(int(SHADES * (value - low) / span), SHADES - 1) if span else 0

    return shade
