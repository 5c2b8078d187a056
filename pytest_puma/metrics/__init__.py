"""Every measure of a cell: a value, the 95 % interval that suits it, and the number of predictions behind it.

One file per family computes `Statistic`s from a `Table` of predictions; `measuring.measure` computes their measures.
`ScoredPredictions` is the interface to all of them for the predictions of a cell.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_puma.core import Metric, Scenario
from pytest_puma.core.metric_name import MetricName
from pytest_puma.metrics.calibration import calibration_bins
from pytest_puma.metrics.catalogue import Catalogue, names_of_kind, source_of
from pytest_puma.metrics.classification import confusion_matrix
from pytest_puma.metrics.contrast import contrast
from pytest_puma.metrics.paired import paired_change
from pytest_puma.metrics.pairs import PairedPredictions, pair
from pytest_puma.metrics.scored import ScoredPredictions
from pytest_puma.metrics.scoring import score
from pytest_puma.metrics.statistic import Statistic
from pytest_puma.metrics.table import TOLERATED_FAILURES, Table

__all__ = [
    "TOLERATED_FAILURES",
    "PairedPredictions",
    "ScoredPredictions",
    "calibration_bins",
    "confusion_matrix",
    "contrast",
    "declaration",
    "is_metric",
    "metric_names",
    "names_of_kind",
    "pair",
    "paired_change",
    "score",
    "source_of",
]


def metric_names(scenario: Scenario, metrics: Sequence[Metric] = ()) -> tuple[str, ...]:
    """Return all metrics that a cell of the scenario can have, the primary one first; `metrics` are its columns.

    Raises a `SettingsError` if the scenario's own metrics have unusable or repeated names, or if its
    primary metric does not exist.
    """
    return tuple(Catalogue(scenario, Table.of(scenario, ()), metrics).names())


def declaration(scenario: Scenario, name: str, metrics: Sequence[Metric] = ()) -> Statistic | None:
    """The statistic of a metric without any predictions, for what it declares: bounds, direction, paired test."""
    statistics = Catalogue(scenario, Table.of(scenario, ()), metrics).all()
    return next((each for each in statistics if each.name == MetricName.parse(name).base), None)


def is_metric(scenario: Scenario, name: str, metrics: Sequence[Metric] = ()) -> bool:
    """Return True if a cell of the scenario can have this metric, or this slice of one."""
    parsed = MetricName.parse(name)
    keys = () if parsed.slice is None else parsed.slice.keys
    return parsed.base in metric_names(scenario, metrics) and set(keys) <= set(scenario.group_columns)
