"""The frame of a chart of variants: two scales with round ticks, in pixels, as wide as the screen of a phone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_puma.core import Measure
from pytest_puma.report.page.drawings import Scale, Tick
from pytest_puma.report.rows import interval, number

#: Of the scales in a picture of 340 x 230.
LEFT, RIGHT, TOP, BOTTOM = 48, 326, 12, 204
#: Number of steps between ticks that both scales aim at.
_TICKS = 6
#: Pixels between the labels at the left and the first mark, whose interval is as wide.
_MARGIN = 10


@dataclass(frozen=True, slots=True)
class Frame:
    """The scales of a chart, with the places of values on them."""

    across: Scale
    up: Scale

    @classmethod
    def around(cls, xs: Iterable[float], ys: Iterable[float]) -> Frame:
        """Return the frame of all these values, NaN left out."""
        return cls(Scale.over(xs, ticks=_TICKS), Scale.over(ys, ticks=_TICKS))

    def x(self, value: float) -> float:
        """Return the place of a value from the left."""
        return round(LEFT + _MARGIN + self.across.share(value) * (RIGHT - LEFT - 2 * _MARGIN), 1)

    def y(self, value: float) -> float:
        """Return the place of a value from the top."""
        return round(BOTTOM - self.up.share(value) * (BOTTOM - TOP), 1)

    @property
    def columns(self) -> list[Tick]:
        """The ticks from left to right."""
        return [Tick(self.x(value), label) for value, label in self.across.steps]

    @property
    def lines(self) -> list[Tick]:
        """The ticks from bottom to top."""
        return [Tick(self.y(value), label) for value, label in self.up.steps]


def ends(measures: Iterable[Measure]) -> list[float]:
    """Return all numbers that a chart of these measures shows."""
    return [value for measure in measures for value in (measure.value, measure.low, measure.high)]


def shown(measure: Measure) -> str:
    """Format a value with its interval: `0.75 [0.5, 0.9]`."""
    return f"{number(measure.value)} {interval(measure)}".strip()


def span(measure: Measure) -> tuple[float, float]:
    """Return the ends of an interval, both at the value if there is none."""
    if math.isnan(measure.low) or math.isnan(measure.high):
        return measure.value, measure.value
    return measure.low, measure.high
