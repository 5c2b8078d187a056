"""Every measure of a cell: a value, the 95 % interval that suits it, and the number of predictions behind it.

One file a family. Each turns a `Table` of predictions into `Statistic`s; `statistic.measure` turns
those into measures, and `Pairs` two sets of answers into a change.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_puma.core import Measure, Prediction, Scenario
from pytest_puma.metrics.catalogue import catalogue
from pytest_puma.metrics.classification import confusion_matrix
from pytest_puma.metrics.paired import Pairs, between, draw
from pytest_puma.metrics.statistic import measure
from pytest_puma.metrics.table import TOLERATED_FAILURES, Table
from pytest_puma.stats import LEVEL, Resamples

__all__ = [
    "TOLERATED_FAILURES",
    "Pairs",
    "between",
    "confusion_matrix",
    "draw",
    "is_metric",
    "measure_all",
    "metric_names",
    "resamples_of",
]


def measure_all(
    scenario: Scenario, predictions: Sequence[Prediction], resamples: Resamples, *, level: float = LEVEL
) -> dict[str, Measure]:
    """Measure a cell, by metric, the primary one first. The same predictions and resamples give the same measures.

    Rows that share units are not independent: then all intervals resample units. A metric of
    probabilities is left out where no prediction carries any.
    """
    table = Table.of(scenario, predictions)
    statistics = [statistic for statistic in catalogue(scenario, table) if statistic.n or not statistic.optional]
    return {found.metric: found for found in measure(statistics, resamples, level=level)}


def resamples_of(predictions: Sequence[Prediction], *, seed: int) -> Resamples:
    """Those that all metrics of these predictions share."""
    return Resamples([prediction.units for prediction in predictions], seed=seed)


def metric_names(scenario: Scenario) -> tuple[str, ...]:
    """All metrics that a cell of the scenario can have, the primary one first.

    Raises a `SettingsError` where the scenario's own metrics have unusable or doubled names, or its
    primary metric does not exist.
    """
    return tuple(statistic.name for statistic in catalogue(scenario, Table.of(scenario, ())))


def is_metric(scenario: Scenario, name: str) -> bool:
    """Whether a cell of the scenario can have this metric."""
    return name in metric_names(scenario)
