"""The primary metric of a scenario as a table of strategies and models, in ten shades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_puma.core import Outcome, Task
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


def heat_map(task: Task, outcomes: Sequence[Outcome]) -> HeatMap | None:
    """Return the table; None for a single cell, or without a primary metric."""
    cells = {(each.shown, each.model): each for each in outcomes if task.primary in each.measures}
    if len(cells) < 2:  # noqa: PLR2004 - one cell has nothing beside it
        return None
    strategies, models = (dict.fromkeys(names) for names in zip(*cells, strict=True))
    values = [value for each in cells.values() if math.isfinite(value := each[task.primary])]
    best = {"high": max, "low": min}.get(task.better)
    chosen = best(values) if best and values else math.nan

    def shown(outcome: Outcome) -> HeatCell:
        value = outcome[task.primary]
        return HeatCell(
            cell=outcome.cell,
            value=number(value),
            shade=_shade(value, values),
            best=value == chosen,
            missed=bool(outcome.failed),
        )

    lines = (
        (strategy, tuple(shown(cells[strategy, model]) if (strategy, model) in cells else None for model in models))
        for strategy in strategies
    )
    return HeatMap(metric=task.primary, models=tuple(models), lines=tuple(lines))


def _shade(value: float, values: Sequence[float]) -> int | None:
    if not math.isfinite(value):
        return None
    low, high = min(values), max(values)
    return min(int(SHADES * (value - low) / (high - low)), SHADES - 1) if high > low else SHADES // 2
