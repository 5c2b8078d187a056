"""Drawings of the summary: intervals on a scale, and the primary metric by strategy and model in ten shades.

Places are numbers for SVG attributes, as style attributes would be refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from pytest_puma.core import Change, Measure, Outcome, TaskInfo
from pytest_puma.report.rows import number

#: The width of a drawing, and the room at both ends of its scale.
WIDTH, MARGIN = 150, 9
#: Number of steps between ticks that a scale aims at.
_TICKS = 4
SHADES = 10


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick at `x`, and its label."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from tick `low` to tick `high`, with ticks every `step`."""

    low: float
    high: float
    step: float

    @classmethod
    def over(cls, values: Iterable[float], *, ticks: int = _TICKS) -> Scale:
        """Return a scale of about as many round ticks around all values, NaN left out."""
        finite = list(filter(math.isfinite, values))
        low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
        step = _step((high - low) or abs(high) or 1.0, ticks)
        first, last = math.floor(low / step), math.ceil(high / step)
        return cls(first * step, max(last, first + 1) * step, step)

    def share(self, value: float) -> float:
        """Return the place of a value between both ends, from 0 to 1."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def x(self, value: float) -> float:
        """Return the place of a value, in tenths of a pixel."""
        return round(MARGIN + self.share(value) * (WIDTH - 2 * MARGIN), 1)

    @property
    def steps(self) -> list[tuple[float, str]]:
        """The values of the ticks, and their labels."""
        first, last = round(self.low / self.step), round(self.high / self.step)
        values = [step * self.step for step in range(first, last + 1)]
        return list(zip(values, _labels(values), strict=True))

    @property
    def ticks(self) -> list[Tick]:
        """The ticks from left to right."""
        return [Tick(self.x(value), label) for value, label in self.steps]

    @property
    def labelled(self) -> list[Tick]:
        """The ticks whose labels have room: all of them, or every second one."""
        ticks = self.ticks
        return ticks if len(ticks) <= _TICKS + 1 else ticks[::2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """An interval on a scale: `value`, `low` and `high` are places; `low` is None without an interval.

    `label`: the numbers, for readers who do not see the drawing. `zero`: the place of no change, and `limits`: those of
    gates.
    """

    ticks: list[Tick]
    value: float
    low: float | None
    high: float | None
    label: str
    zero: float | None = None
    limits: tuple[float, ...] = ()


def draw(
    scale: Scale,
    result: Measure | Change,
    *,
    form: Callable[[float], str] = number,
    zero: float | None = None,
    limits: Iterable[float] = (),
) -> Drawing | None:
    """Return the drawing of a measure or of a change, whose numbers are written in a form; None without a value."""
    if not math.isfinite(result.value):
        return None
    ends = "" if math.isnan(result.low) else f", interval {form(result.low)} to {form(result.high)}"
    bounded = math.isfinite(result.low) and math.isfinite(result.high)
    return Drawing(
        ticks=scale.ticks,
        value=scale.x(result.value),
        low=scale.x(result.low) if bounded else None,
        high=scale.x(result.high) if bounded else None,
        label=f"{form(result.value)}{ends}",
        zero=None if zero is None else scale.x(zero),
        limits=tuple(map(scale.x, limits)),
    )


def _labels(values: Sequence[float]) -> list[str]:
    """The values with as few digits as tell them apart."""
    texts = ([f"{value or 0.0:.{digits}g}" for value in values] for digits in range(3, 18))
    return next((labels for labels in texts if len(set(labels)) == len(labels)), list(map(repr, values)))


def _step(span: float, ticks: int) -> float:
    """A round step: 1, 2 or 5 times a power of ten."""
    rough = span / ticks
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


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
    cells = {
        (outcome.name.shown, outcome.name.model): outcome for outcome in outcomes if task.primary in outcome.measures
    }
    strategies, models = (dict.fromkeys(name[axis] for name in cells) for axis in (0, 1))
    if min(len(strategies), len(models)) < 2:  # noqa: PLR2004 - several
        return None
    measures = [outcome.measures[task.primary] for outcome in cells.values()]
    values = [measure.value for measure in measures if math.isfinite(measure.value)]
    span = _span(values, measures)
    best = {"high": max, "low": min}.get(task.better)
    chosen = best(values) if best and values else math.nan

    def shown(outcome: Outcome) -> HeatCell:
        value, missed = outcome[task.primary], bool(outcome.failed)
        shade = _shade(value - min(values), span) if math.isfinite(value) else None
        return HeatCell(cell=outcome.cell, value=number(value), shade=shade, best=value == chosen, missed=missed)

    lines = (
        (strategy, tuple(shown(cells[strategy, model]) if (strategy, model) in cells else None for model in models))
        for strategy in strategies
    )
    return HeatMap(metric=task.primary, models=tuple(models), lines=tuple(lines))


def _span(values: Sequence[float], measures: Sequence[Measure]) -> float:
    """The difference that has all shades: that of the values, but at least a typical interval, as chance has few."""
    widths = [width for measure in measures if math.isfinite(width := measure.high - measure.low)]
    return max(max(values, default=0.0) - min(values, default=0.0), median(widths) if widths else 0.0)


def _shade(distance: float, span: float) -> int:
    """The shade of a value at a distance from the lowest one."""
    return min(int(SHADES * distance / span), SHADES - 1) if span else 0
