"""Pictures of trade-offs: two metrics of the variants of a model, with the standing of each and the observed front."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_puma.analysis.front import SIZE, undominated
from pytest_puma.core import CellId, Front, Measure, Outcome, Run, Standing
from pytest_puma.report.page.frame import BOTTOM, LEFT, RIGHT, TOP, Frame, ends, shown, span

#: With more points only those of the observed front have their number in the picture.
_NUMBERED = 10
#: Width and height of a number beside its point, and its distance from there.
_WIDE, _TALL, _OFF = 13, 11, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A variant in a picture: its place, the cross of both intervals, and the place of its `number`, None for none."""

    number: int
    model: str
    cell: str
    standing: Standing
    x: float
    y: float
    across: tuple[float, float]
    up: tuple[float, float]
    at: tuple[float, float] | None
    value: str
    other_value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A trade-off. `up` and `across`: the names of both axes; `path`: the observed front."""

    up: str
    across: str
    frame: Frame
    spots: tuple[Spot, ...]
    path: str


def pictures(run: Run) -> Iterator[Picture]:
    """Yield the picture of each trade-off of a run."""
    cells = {outcome.cell: outcome for outcome in run.outcomes}
    for front in run.fronts:
        if all(point.cell in cells and point.other_cell in cells for point in front.points):
            yield _picture(front, cells, run)


def _picture(front: Front, cells: Mapping[str, Outcome], run: Run) -> Picture:
    ups = [cells[point.cell].measures[front.metric] for point in front.points]
    others = [cells[point.other_cell] for point in front.points]
    if front.other_metric == SIZE:
        acrosses = [_size(run.weights[outcome.name.model].size) for outcome in others]
    else:
        acrosses = [outcome.measures[front.other_metric] for outcome in others]
    frame = Frame.around(ends(acrosses), ends(ups))
    places = [(frame.x(x.value), frame.y(y.value)) for x, y in zip(acrosses, ups, strict=True)]
    edge = _observed_front(ups, acrosses)
    numbered = edge if len(places) > _NUMBERED else set(range(len(places)))
    spots = tuple(
        Spot(
            number=index + 1,
            model=cells[point.cell].name.model,
            cell=point.cell,
            standing=point.standing,
            x=place[0],
            y=place[1],
            across=(frame.x(span(x)[0]), frame.x(span(x)[1])),
            up=(frame.y(span(y)[0]), frame.y(span(y)[1])),
            at=at,
            value=shown(y),
            other_value=shown(x),
        )
        for index, (point, place, at, x, y) in enumerate(
            zip(front.points, places, _numbers(places, numbered), acrosses, ups, strict=True)
        )
    )
    first = front.points[0]
    return Picture(
        up=_axis(first.cell, ups[0]),
        across=_axis(first.other_cell, acrosses[0]),
        frame=frame,
        spots=spots,
        path="M" + "L".join(f"{x} {y}" for x, y in sorted(places[index] for index in edge)),
    )


def _size(size: int) -> Measure:
    return Measure(metric=SIZE, value=size / 2**20, low=math.nan, high=math.nan, n=1, better="low")


def _axis(cell: str, measure: Measure) -> str:
    name = CellId.parse(cell)
    if measure.metric == SIZE:
        return f"{SIZE} (low is better)"
    return f"{measure.metric} of {name.scenario}-{name.strategy} ({measure.better} is better)"


def _observed_front(ups: Sequence[Measure], acrosses: Sequence[Measure]) -> set[int]:
    return undominated(
        [
            [measure.value if measure.better == "high" else -measure.value for measure in pair]
            for pair in zip(ups, acrosses, strict=True)
        ]
    )


def _numbers(places: Sequence[tuple[float, float]], numbered: Collection[int]) -> Iterator[tuple[float, float] | None]:
    """The place of the number beside each point, where the fewest others are: the lower left corner of its text."""
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in places]
    for index, (x, y) in enumerate(places):
        if index not in numbered:
            yield None
            continue
        corners = [
            (x + _OFF, y - _OFF + 1),
            (x - _OFF - _WIDE, y - _OFF + 1),
            (x + _OFF, y + _OFF + _TALL - 3),
            (x - _OFF - _WIDE, y + _OFF + _TALL - 3),
        ]
        boxes = [(left, bottom - _TALL, left + _WIDE, bottom) for left, bottom in corners]
        best = min(range(len(boxes)), key=lambda corner: _overlaps(boxes[corner], taken))
        taken.append(boxes[best])
        yield round(corners[best][0], 1), round(corners[best][1], 1)


def _overlaps(box: tuple[float, float, float, float], taken: Sequence[tuple[float, float, float, float]]) -> int:
    """The number of boxes that overlap one, and many for a box outside of the axes."""
    outside = box[0] < LEFT or box[2] > RIGHT or box[1] < TOP or box[3] > BOTTOM
    shared = (box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken)
    return sum(shared) + (len(taken) if outside else 0)
