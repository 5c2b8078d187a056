"""Quality against cost: the primary metric of the cells of a scenario by their speed, their memory and their size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_puma.analysis.front import SIZE, undominated
from pytest_puma.core import Outcome, Run
from pytest_puma.report.page.frame import Frame, ends, shown, span
from pytest_puma.report.rows import number, throughput

_RADIUS = 4
#: The largest cost by the smallest one, from which on there is a chart.
_SPREAD = 1.1


class _Cost(NamedTuple):
    """A cost by cell, in a `unit`; `better`: `high` or `low`."""

    unit: str
    better: str
    of_cells: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A cell of which no other is better in both: its place, the ends of its interval, and its numbers as texts."""

    cell: str
    x: float
    y: float
    up: tuple[float, float]
    value: str
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostChart:
    """A chart. `up` and `across`: the names of both axes; `others`: the circles of the dominated cells, as a path."""

    up: str
    across: str
    frame: Frame
    front: tuple[Dot, ...]
    others: str


def cost_charts(run: Run) -> Iterator[CostChart]:
    """Yield the charts of each scenario whose cells differ in cost by a tenth."""
    for scenario in dict.fromkeys(outcome.name.scenario for outcome in run.outcomes):
        of_scenario = [
            outcome
            for outcome in run.outcomes
            if outcome.name.scenario == scenario and outcome.name.perturbation is None and _is_measured(outcome)
        ]
        for cost in _costs(run, of_scenario):
            outcomes = [outcome for outcome in of_scenario if outcome.cell in cost.of_cells]
            if _differs(cost) and outcomes[0].task.better != "neither":
                yield _chart(cost, outcomes)


def _differs(cost: _Cost) -> bool:
    """Whether the costs differ by more than repeated runs do."""
    values = cost.of_cells.values()
    return max(values, default=0.0) > _SPREAD * min(values, default=0.0)


def _is_measured(outcome: Outcome) -> bool:
    return outcome.primary in outcome.measures and math.isfinite(outcome[outcome.primary])


def _costs(run: Run, outcomes: Sequence[Outcome]) -> Iterator[_Cost]:
    """Yield the costs of cells; a front of the run over the size has a picture of its own."""
    yield _Cost(
        "answers a second",
        "high",
        {
            outcome.cell: outcome.execution.trials / outcome.execution.seconds
            for outcome in outcomes
            if throughput([outcome])
        },
    )
    memory: dict[str, int] = {}
    for outcome in run.outcomes:
        memory[outcome.name.model] = max(memory.get(outcome.name.model, 0), outcome.execution.peak_memory)
    yield _Cost("MB of memory", "low", _by_cell(outcomes, memory))
    if not any(front.other_metric == SIZE for front in run.fronts):
        yield _Cost("MB of weights", "low", _by_cell(outcomes, {name: file.size for name, file in run.weights.items()}))


def _by_cell(outcomes: Sequence[Outcome], of_models: Mapping[str, int]) -> dict[str, float]:
    return {
        outcome.cell: of_models[outcome.name.model] / 2**20 for outcome in outcomes if of_models.get(outcome.name.model)
    }


def _chart(cost: _Cost, outcomes: Sequence[Outcome]) -> CostChart:
    task, costs = outcomes[0].task, [cost.of_cells[outcome.cell] for outcome in outcomes]
    measures = [outcome.measures[task.primary] for outcome in outcomes]
    frame = Frame.around(costs, ends(measures))
    front = undominated(
        [
            (value if cost.better == "high" else -value, measure.value if task.better == "high" else -measure.value)
            for value, measure in zip(costs, measures, strict=True)
        ]
    )
    dots = [
        Dot(
            cell=outcome.cell,
            x=frame.x(value),
            y=frame.y(measure.value),
            up=(frame.y(span(measure)[0]), frame.y(span(measure)[1])),
            value=shown(measure),
            cost=f"{number(value)} {cost.unit}",
        )
        for outcome, value, measure in zip(outcomes, costs, measures, strict=True)
    ]
    return CostChart(
        up=f"{task.primary} of {outcomes[0].name.scenario} ({task.better} is better)",
        across=f"{cost.unit} ({cost.better} is better)",
        frame=frame,
        front=tuple(sorted((dots[index] for index in front), key=lambda dot: dot.x)),
        others="".join(
            f"M{round(dot.x - _RADIUS, 1)} {dot.y}a{_RADIUS} {_RADIUS} 0 1 1 0 .01z"
            for index, dot in enumerate(dots)
            if index not in front
        ),
    )
