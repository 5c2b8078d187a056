"""All statistics of a cell: those of its task type, the scenario's own, and those that every cell has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

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
}


class Catalogue:
    """All statistics of a cell, with those of the columns of `metrics`.

    Each is made when it is first asked for, after those before it: a gate or a slice needs one of dozens.
    """

    def __init__(self, scenario: Scenario, table: Table, metrics: Sequence[Metric] = ()) -> None:
        self._scenario = scenario
        self._made: list[Statistic] = []
        self._by_name: dict[str, Statistic] = {}
        self._others = _statistics(scenario, table, metrics)

    def get(self, name: str) -> Statistic | None:
        """Return the statistic of this name, None if there is none."""
        while name not in self._by_name and self._make():
            pass
        return self._by_name.get(name)

    def _make(self) -> bool:
        """Make the next statistic; return False after the last one."""
        statistic = next(self._others, None)
        if statistic is None:
            return False
        self._made.append(statistic)
        self._by_name.setdefault(statistic.name, statistic)
        return True

    def names(self, only: Collection[str] | None = None) -> list[str]:
        """Return the names in the order of `all`: all of them, or those of `only` that exist."""
        if only is None:
            return [statistic.name for statistic in self.all()]
        measured = {name for name in only if self.get(name) is not None}
        return [each.name for each in self._primary_first(self._made) if each.name in measured]

    def all(self) -> list[Statistic]:
        """Return every statistic, the primary one first.

        Raises a `SettingsError` for an unusable or repeated name.
        """
        while self._make():
            pass
        names = Counter(statistic.name for statistic in self._made)
        primary = self._scenario.primary_metric()
        if primary not in names:
            msg = f"{self._scenario.name}: primary_metric() is {primary!r}; expected one of {', '.join(names)}"
            raise SettingsError(msg)
        repeated = [name for name, count in names.items() if count > 1]
        if repeated:
            msg = f"{self._scenario.name}: two metrics are named {repeated[0]!r}; rename your metric, or the label"
            raise SettingsError(msg)
        return self._primary_first(self._made)

    def _primary_first(self, statistics: Sequence[Statistic]) -> list[Statistic]:
        primary = self._scenario.primary_metric()
        return sorted(statistics, key=lambda statistic: statistic.name != primary)


def _of_form(scenario: Scenario, table: Table) -> Iterator[Statistic]:
    statistics = _OF_FORM.get(scenario.kind.form)
    return iter(()) if statistics is None else statistics(table)


def _statistics(scenario: Scenario, table: Table, metrics: Sequence[Metric]) -> Iterator[Statistic]:
    yield from _of_form(scenario, table)
    yield from own.statistics(scenario, table, metrics)
    yield from columns.statistics(metrics, table.predictions)
    yield from _of_every_cell(table)


def names_of_kind(scenario: Scenario) -> frozenset[str]:
    """Return the names that every cell of this kind of task has, whatever the scenario declares."""
    table = Table.of(scenario, ())
    return frozenset(each.name for each in (*_of_form(scenario, table), *_of_every_cell(table)))


def _of_every_cell(table: Table) -> Iterator[Statistic]:
    yield from cost.failures(table)
    yield from calibration.statistics(table)
    yield from cost.statistics(table)
