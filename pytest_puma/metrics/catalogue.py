"""All statistics of a cell: those of its task type, the scenario's own, and those that every cell has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_puma.core import Metric, Scenario, SettingsError
from pytest_puma.metrics import calibration, classification, columns, cost, own, regression
from pytest_puma.metrics.statistic import Statistic
from pytest_puma.metrics.table import Table
from pytest_puma.task_types import Form

#: The metrics of one form of answers only.
_OF_FORM: Mapping[Form, Callable[[Table], Iterator[Statistic]]] = {
    "labels": classification.statistics,
    "numbers": regression.statistics,
    "choices": classification.of_choices,
    "texts": lambda _: iter(()),
}


def catalogue(scenario: Scenario, table: Table, metrics: Sequence[Metric] = ()) -> list[Statistic]:
    """Return every statistic, the primary one first, with those of the columns of `metrics`.

    Raises a `SettingsError` for an unusable or repeated name.
    """
    statistics = [
        *_OF_FORM[scenario.kind.form](table),
        *own.statistics(scenario, table, metrics),
        *columns.statistics(metrics, table.predictions),
        *_of_every_cell(table),
    ]
    names = Counter(statistic.name for statistic in statistics)
    primary = scenario.primary_metric()
    if primary not in names:
        msg = f"{scenario.name}: primary_metric() is {primary!r}; expected one of {', '.join(names)}"
        raise SettingsError(msg)
    repeated = [name for name, count in names.items() if count > 1]
    if repeated:
        msg = f"{scenario.name}: two metrics are named {repeated[0]!r}; rename your metric, or the label"
        raise SettingsError(msg)
    return sorted(statistics, key=lambda statistic: statistic.name != primary)


def names_of_kind(scenario: Scenario) -> frozenset[str]:
    """Return the names that every cell of this kind of task has, whatever the scenario declares."""
    table = Table.of(scenario, ())
    return frozenset(each.name for each in (*_OF_FORM[scenario.kind.form](table), *_of_every_cell(table)))


def _of_every_cell(table: Table) -> list[Statistic]:
    return [*cost.failures(table), *calibration.statistics(table), *cost.statistics(table)]
