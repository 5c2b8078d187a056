"""The metrics of a cell over the groups of its samples: which are measured, and which of them reports show."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from pytest_puma.core import Measure
from pytest_puma.core.metric import Source
from pytest_puma.core.metric_name import MetricName, folded, of_group
from pytest_puma.evaluation.cell import Cell
from pytest_puma.metrics import ScoredPredictions, source_of

#: Groups with a row of their own in reports: those with the worst values.
WORST = 3


def measure_cell(
    cell: Cell, scored: ScoredPredictions, shown: Sequence[str], *, level: float, without: Collection[Source] = ()
) -> dict[str, Measure]:
    """All measures of a cell, but for those of some sources.

    Slices that reports show or gates name have an interval; those of all other groups have a value alone.
    """
    gates = [gate.metric for gate in (*cell.gates, *cell.cross_cell_gates) if not gate.word]
    gated = [metric for metric in gates if source_of(metric) not in without]
    groups = [metric for metric in _groups(cell, scored) if source_of(metric) not in without]
    named = [*shown, *gated, *cell.compared_metrics]
    sliced = [name for name in dict.fromkeys(named) if MetricName.parse(name).slice is not None]
    measures = scored.measures(level=level, sliced=sliced, without=without)
    others = scored.values([name for name in groups if name not in measures])
    measures |= {name: measure for name, measure in others.items() if measure.n}
    # A strategy that gives no such metric leaves its gates out; one that got no answer at all does not.
    is_unanswered = all(prediction.finish == "overflow" for prediction in scored.predictions)
    return measures | {name: _nothing(name) for name in gated if is_unanswered and name not in measures}


def _nothing(metric: str) -> Measure:
    return Measure(metric=metric, value=math.nan, low=math.nan, high=math.nan, n=0, note="no prompt was answered")


def shown_metrics(cell: Cell, scored: ScoredPredictions) -> tuple[str, ...]:
    """The metrics that reports show: the cell's own, and behind each its mean over groups and its worst groups."""
    shown: list[str] = []
    for name in cell.metrics or (cell.scenario.primary_metric(),):
        shown.append(name)
        if MetricName.parse(name).slice is None:
            for key in cell.scenario.group_columns:
                shown += _of_column(name, key, scored)
    return tuple(dict.fromkeys(shown))


def _of_column(name: str, key: str, scored: ScoredPredictions) -> list[str]:
    groups = scored.groups(key)
    if len(groups) < 2:  # noqa: PLR2004 - a single group is the whole
        return []
    statistic = scored.statistic(name)
    values = scored.values([of_group(name, key, group) for group in groups])
    measured = [measure for measure in values.values() if not math.isnan(measure.value)]
    if statistic is None or statistic.better == "neither":
        return [folded(name, "mean", key)]
    worst = sorted(measured, key=lambda measure: measure.value if statistic.better == "high" else -measure.value)
    return [folded(name, "mean", key), *(measure.metric for measure in worst[:WORST])]


def _groups(cell: Cell, scored: ScoredPredictions) -> list[str]:
    """The slices of the cell's shown metrics for each single group."""
    return [
        of_group(name, key, group)
        for name in cell.metrics or (cell.scenario.primary_metric(),)
        if MetricName.parse(name).slice is None
        for key in cell.scenario.group_columns
        for group in scored.groups(key)
    ]
