"""Sweep curves: a metric of the variants of a model, over the strength of a control or over its layer.

The curve of a control has a line for each combination of the other controls and layers, and a band for the plain model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pytest_puma.core import Measure, Outcome
from pytest_puma.core.variant import Setting, settings_of
from pytest_puma.core.weights import Weights
from pytest_puma.report.page.frame import Frame, ends, shown, span
from pytest_puma.report.rows import number

#: Lines of a chart, which has four kinds; more become further charts.
_LINES = 4
#: Pixels between the intervals of two lines at one place.
_APART = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A variant in a chart: its place, the ends of its interval, and its numbers as text."""

    cell: str
    x: float
    y: float
    low: float
    high: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepLine:
    """The marks of a line from left to right; `name`: the other controls, empty for the only line."""

    name: str
    marks: tuple[Mark, ...]

    @property
    def path(self) -> str:
        """The line as the path of an SVG."""
        return "M" + "L".join(f"{mark.x} {mark.y}" for mark in self.marks)

    @property
    def places(self) -> list[tuple[float, float, float, float, str]]:
        """The marks for the template."""
        return [(mark.x, mark.y, mark.low, mark.high, mark.label) for mark in self.marks]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The chart of a metric over what is swept, with the cell `where` it is.

    `plain`: the value of the plain model, and the ends of its band.
    """

    title: str
    where: str
    frame: Frame
    lines: tuple[SweepLine, ...]
    plain: tuple[float, float, float] | None

    @property
    def label(self) -> str:
        """All numbers, for readers who do not see the chart."""
        return "; ".join([f"{self.title}, {self.where}", *(mark.label for line in self.lines for mark in line.marks)])


@dataclass(frozen=True, slots=True)
class _Point:
    """A variant, by the settings of its controls."""

    outcome: Outcome
    settings: Mapping[str, Setting]

    @property
    def type(self) -> str:
        """The name of its quantisation, `plain` for the file itself."""
        return next((name for name, setting in self.settings.items() if setting.is_type), "plain")

    @property
    def without_type(self) -> str:
        """All other controls."""
        return ", ".join(setting.part for setting in self.settings.values() if not setting.is_type)

    def line(self, control: str, swept: str) -> tuple[str, str]:
        """The key of its line in the curve of a control: what else that control has, and the other controls."""
        others = ", ".join(setting.part for name, setting in self.settings.items() if name != control)
        setting = self.settings.get(control)
        if setting is None or (swept == "strength" and not setting.layers):
            return "", others
        if swept == "layer":
            return f"strength {number(setting.strength)}", others
        return f"layer{'s' if '-' in setting.layers else ''} {setting.layers}", others


def curves(outcomes: Sequence[Outcome], weights: Mapping[str, Weights]) -> Iterator[Curve]:
    """Yield the curves of the cells of a scenario, strategy by strategy and model by model."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.name.perturbation is None:
            groups.setdefault((outcome.name.strategy, outcome.name.plain), []).append(outcome)
    for (strategy, model), group in groups.items():
        points = [_Point(outcome, settings_of(outcome.name.variant or "")) for outcome in group]
        where = f"{group[0].name.scenario}-{strategy}@{model}"
        # A plain model has no distance from itself.
        for metric in dict.fromkeys(chain.from_iterable(outcome.metrics for outcome in group)):
            measured = [point for point in points if metric in point.outcome.measures]
            measured = [point for point in measured if point.outcome.measures[metric].n]
            yield from _of_bits(measured, weights, metric, where=where)
            for control, swept in _swept(measured):
                title = f"{metric} by {swept} of {control}"
                yield from _curves(_lines(measured, control, swept), measured, metric, title=title, where=where)


def _of_bits(points: Sequence[_Point], weights: Mapping[str, Weights], metric: str, *, where: str) -> Iterator[Curve]:
    """The curve of quantisations, with a line for each combination of all other controls."""
    lines: dict[str, list[tuple[float, Outcome]]] = {}
    names: dict[float, str] = {}
    for point in points:
        if (found := weights.get(point.outcome.name.model)) is not None:
            lines.setdefault(point.without_type, []).append((found.bits, point.outcome))
            names.setdefault(found.bits, point.type)
    if len(names) > 1:
        title = f"{metric} by bits per weight"
        ladder = ", ".join(f"{bits:.3g} {name}" for bits, name in sorted(names.items(), reverse=True))
        yield from _curves(lines, points, metric, title=title, where=f"{where}: {ladder}")


def _swept(points: Sequence[_Point]) -> Iterator[tuple[str, str]]:
    """The controls with several strengths, and those with several layers at one strength."""
    for control in dict.fromkeys(chain.from_iterable(point.settings for point in points)):
        settings = [point.settings[control] for point in points if control in point.settings]
        if len({setting.strength for setting in settings if not math.isnan(setting.strength)}) > 1:
            yield control, "strength"
        elif len({setting.layers for setting in settings}) > 1 and all(each.layers.isdigit() for each in settings):
            yield control, "layer"


def _curves(
    lines: Mapping[str, list[tuple[float, Outcome]]], points: Iterable[_Point], metric: str, *, title: str, where: str
) -> Iterator[Curve]:
    plain = next((point.outcome.measures[metric] for point in points if not point.settings), None)
    shown_measures = [outcome.measures[metric] for line in lines.values() for _, outcome in line]
    shown_measures += [] if plain is None else [plain]
    frame = Frame.around((x for line in lines.values() for x, _ in line), ends(shown_measures))
    names = list(lines)
    for start in range(0, len(names), _LINES):
        part = names[start : start + _LINES]
        drawn = (
            _line(name or "alone" if len(names) > 1 else "", lines[name], metric, frame, place - (len(part) - 1) / 2)
            for place, name in enumerate(part)
        )
        yield Curve(
            title=title,
            where=where,
            frame=frame,
            lines=tuple(drawn),
            plain=None if plain is None else _band(plain, frame),
        )


def _band(plain: Measure, frame: Frame) -> tuple[float, float, float]:
    low, high = span(plain)
    return frame.y(plain.value), frame.y(low), frame.y(high)


def _lines(points: Iterable[_Point], control: str, swept: str) -> dict[str, list[tuple[float, Outcome]]]:
    """The places and variants of each line; without the control its strength is 0, where all its lines begin."""
    lines: dict[tuple[str, str], list[tuple[float, Outcome]]] = {}
    absent = []
    for point in points:
        if control in point.settings:
            setting = point.settings[control]
            x = setting.strength if swept == "strength" else float(setting.layers)
            lines.setdefault(point.line(control, swept), []).append((x, point.outcome))
        elif swept == "strength":
            absent.append(point)
    for point in absent:
        for (_, others), line in lines.items():
            if others == point.line(control, swept)[1]:
                line.append((0.0, point.outcome))
    return {", ".join(filter(None, key)): line for key, line in lines.items()}


def _line(name: str, points: Iterable[tuple[float, Outcome]], metric: str, frame: Frame, aside: float) -> SweepLine:
    ordered = sorted(points, key=lambda point: point[0])
    marks = (_mark(outcome.cell, x, outcome.measures[metric], frame, aside) for x, outcome in ordered)
    return SweepLine(name=name, marks=tuple(marks))


def _mark(cell: str, x: float, measure: Measure, frame: Frame, aside: float) -> Mark:
    low, high = span(measure)
    place = round(frame.x(x) + _APART * aside, 1)
    label = f"{cell.rpartition('@')[2]}: {shown(measure)}"
    return Mark(cell=cell, x=place, y=frame.y(measure.value), low=frame.y(low), high=frame.y(high), label=label)
