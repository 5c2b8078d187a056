"""Every measure of a cell: a value, the 95 % interval that suits it, and the number of predictions behind it.

One file a family. Each turns a `Table` of predictions into `Statistic`s; `measuring.measure` turns those into measures.
`ScoredPredictions` are where a cell's predictions are asked for any of it.
"""

from __future__ import annotations

from pytest_puma.core import Scenario
from pytest_puma.metrics.catalogue import catalogue
from pytest_puma.metrics.classification import confusion_matrix
from pytest_puma.metrics.contrast import contrast
from pytest_puma.metrics.paired import between
from pytest_puma.metrics.scored import PairedPredictions, ScoredPredictions
from pytest_puma.metrics.table import TOLERATED_FAILURES, Table

__all__ = [
    "TOLERATED_FAILURES",
    "PairedPredictions",
    "ScoredPredictions",
    "between",
    "confusion_matrix",
    "contrast",
    "has_bounds",
    "is_metric",
    "metric_names",
]


def metric_names(scenario: Scenario) -> tuple[str, ...]:
    """All metrics that a cell of the scenario can have, the primary one first.

    Raises a `SettingsError` where the scenario's own metrics have unusable or doubled names, or its
    primary metric does not exist.
    """
    return tuple(statistic.name for statistic in catalogue(scenario, Table.of(scenario, ())))


def has_bounds(scenario: Scenario, name: str) -> bool:
    """Whether a metric lies between two numbers, as an accuracy or a kappa does, so that its points are hundredths."""
    return any(each.name == name and each.bounds is not None for each in catalogue(scenario, Table.of(scenario, ())))


def is_metric(scenario: Scenario, name: str) -> bool:
    """Whether a cell of the scenario can have this metric."""
    return name in metric_names(scenario)
