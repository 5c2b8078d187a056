"""The changes of metrics since a baseline or another run, each drawn on the scale of its kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_puma.core import Change, Direction, Gate, Outcome, Run
from pytest_puma.report.page.against import Against, is_change
from pytest_puma.report.page.scale import Drawing, Scale, draw
from pytest_puma.report.rows import number, signed


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLine:
    """A change of a metric of a cell; `effect`: `better` or `worse` if the interval excludes no change."""

    cell: str
    gate: str
    change: Change
    difference: str
    effect: str
    status: str
    drawing: Drawing | None


def change_lines(run: Run, against: Against) -> Iterator[ChangeLine]:
    """Yield a line for each gate on a change, and for that of the primary metric if no gate is about it."""
    lines: list[tuple[Outcome, Gate | None, Change, str]] = []
    for outcome in run.outcomes:
        judged = [each for each in outcome.verdicts if against.judged and is_change(each)]
        kinds = {kind_of(each.change) for each in judged if each.change is not None}
        lines += [(outcome, each.gate, each.change, each.status) for each in judged if each.change is not None]
        others = [each for each in against.changes.get(outcome.cell, ()) if each.metric == outcome.primary]
        lines += [(outcome, None, each, "") for each in others if kind_of(each) not in kinds]
    scales = change_scales(change for _, _, change, _ in lines)
    for outcome, gate, change, status in lines:
        better = outcome.measures[change.metric].better if change.metric in outcome.measures else "neither"
        none = 1.0 if change.quotient else 0.0
        yield ChangeLine(
            cell=outcome.cell,
            gate="" if gate is None else str(gate),
            change=change,
            difference=f"x {number(change.value)}" if change.quotient else signed(change.value),
            effect=_effect(change, better, none),
            status=status,
            drawing=draw(scales[kind_of(change)], change, change_label(change), zero=none),
        )


def change_scales(changes: Iterable[Change]) -> dict[tuple[str, bool], Scale]:
    """Return a scale for each kind of change, with the place of no change on it."""
    numbers: dict[tuple[str, bool], list[float]] = {}
    for each in changes:
        none = 1.0 if each.quotient else 0.0
        numbers.setdefault(kind_of(each), [none]).extend((each.value, each.low, each.high))
    return {kind: Scale.over(values) for kind, values in numbers.items()}


def kind_of(change: Change) -> tuple[str, bool]:
    """Return the metric, and whether the change is a quotient: changes of one kind share a scale."""
    return change.metric, change.quotient


def change_label(change: Change) -> str:
    """Return the numbers of a change, for readers who do not see the drawing."""
    limits = "" if math.isnan(change.low) else f", interval {signed(change.low)} to {signed(change.high)}"
    return f"{signed(change.value)}{limits}"


def _effect(change: Change, better: Direction, none: float) -> str:
    if better == "neither" or not (change.low > none or change.high < none):
        return ""
    return "better" if (change.low > none) == (better == "high") else "worse"
