"""All statistics of a cell: those of its task, the scenario's own, and those that every cell has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_puma.core import Metric, Scenario, SettingsError
from pytest_puma.metrics import calibration, classification, columns, cost, own, regression
from pytest_puma.metrics.statistic import Statistic
from pytest_puma.metrics.table import Table

#: The metrics that only one kind of task has.
_OF_TASK: Mapping[str, Callable[[Table], Iterator[Statistic]]] = {
    "classification": classification.statistics,
    "regression": regression.statistics,
}


def catalogue(scenario: Scenario, table: Table, metrics: Sequence[Metric] = ()) -> list[Statistic]:
    """Every statistic, the primary one first, with those of the columns of `metrics`.

    Raises a `SettingsError` for a name that is unusable or there twice.
    """
    statistics = [
        *_OF_TASK[scenario.task_type](table),
        *own.statistics(scenario, table, metrics),
        *columns.statistics(metrics, table.predictions),
        *cost.failures(table),
        *calibration.statistics(table),
        *cost.statistics(table),
    ]
    names = Counter(statistic.name for statistic in statistics)
    primary = scenario.primary_metric()
    if primary not in names:
        msg = f"{scenario.name}: primary_metric() is {primary!r}; expected one of {', '.join(names)}"
        raise SettingsError(msg)
    doubled = [name for name, times in names.items() if times > 1]
    if doubled:
        msg = f"{scenario.name}: two metrics are named {doubled[0]!r}; rename your metric, or the label"
        raise SettingsError(msg)
    return sorted(statistics, key=lambda statistic: statistic.name != primary)
