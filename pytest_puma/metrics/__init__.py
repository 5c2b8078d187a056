"""Every measure of a cell: a value, the 95 % interval that suits it, and the number of predictions behind it.

One file a family. Each turns a `Table` of predictions into `Statistic`s; `statistic.measure` turns
those into measures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_puma.core import Measure, Prediction, Scenario, SettingsError
from pytest_puma.metrics import calibration, classification, cost, own, regression
from pytest_puma.metrics.classification import confusion_matrix
from pytest_puma.metrics.regression import TOLERATED_FAILURES
from pytest_puma.metrics.statistic import Statistic, measure
from pytest_puma.metrics.table import Table

__all__ = ["TOLERATED_FAILURES", "confusion_matrix", "is_metric", "measure_all", "metric_names"]


def measure_all(scenario: Scenario, predictions: Sequence[Prediction], *, seed: int) -> dict[str, Measure]:
    """Measure a cell, by metric, the primary one first. The same predictions and seed give the same measures.

    Rows that share units are not independent: then all intervals resample units. A metric of
    probabilities is left out where no prediction carries any.
    """
    table = Table.of(scenario, predictions)
    statistics = [statistic for statistic in _statistics(scenario, table) if statistic.n or not statistic.optional]
    units = [prediction.units for prediction in predictions]
    return {found.metric: found for found in measure(statistics, units, seed=seed)}


def metric_names(scenario: Scenario) -> tuple[str, ...]:
    """All metrics that a cell of the scenario can have, the primary one first.

    Raises a `SettingsError` where the scenario's own metrics have unusable or doubled names, or its
    primary metric does not exist.
    """
    return tuple(statistic.name for statistic in _statistics(scenario, Table.of(scenario, ())))


def is_metric(scenario: Scenario, name: str) -> bool:
    """Whether a cell of the scenario can have this metric."""
    return name in metric_names(scenario)


def _statistics(scenario: Scenario, table: Table) -> list[Statistic]:
    task = regression if scenario.task_type == "regression" else classification
    statistics = [
        *task.statistics(table),
        *own.statistics(scenario, table),
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
        msg = f"{scenario.name}: two metrics are named {doubled[0]!r}; rename one in metrics() or valid_labels()"
        raise SettingsError(msg)
    return sorted(statistics, key=lambda statistic: statistic.name != primary)
