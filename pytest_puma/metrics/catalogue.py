"""All statistics of a cell: those of its task type, the scenario's own, and those that every cell has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain

import numpy as np

from pytest_puma.core import TRUNCATED, Metric, Scenario, SettingsError
from pytest_puma.core.metric import Source
from pytest_puma.core.metric_name import MetricName
from pytest_puma.metrics import answers, calibration, cost, declared, ranking
from pytest_puma.metrics.statistic import ComparisonBasis, Statistic, proportion
from pytest_puma.metrics.table import PredictionTable
from pytest_puma.task_types import Form

#: The metrics of one form of answers only. Choices have no classes.
_OF_FORM: Mapping[Form, Callable[[PredictionTable], Iterator[Statistic]]] = {
    "labels": lambda table: chain(answers.of_labels(table), ranking.of_labels(table)),
    "numbers": answers.of_numbers,
    "choices": lambda table: iter((answers.accuracy(table),)),
    "texts": lambda _: iter(()),
}


class Catalogue:
    """All statistics of a cell, with those of the columns of `metrics`.

    Each is made when it is first asked for, after those before it: a gate or a slice needs one of dozens.
    """

    def __init__(self, scenario: Scenario, table: PredictionTable, metrics: Sequence[Metric] = ()) -> None:
        self._scenario = scenario
        self._made: list[Statistic] = []
        self._others = _statistics(scenario, table, metrics)

    def __iter__(self) -> Iterator[Statistic]:
        """Yield the statistics in the order in which they are made."""
        yield from self._made
        for statistic in self._others:
            self._made.append(statistic)
            yield statistic

    def get(self, name: str) -> Statistic | None:
        """Return the statistic of this name, None if there is none."""
        return next((statistic for statistic in self if statistic.name == name), None)

    def names(self, only: Collection[str] | None = None) -> list[str]:
        """Return the names in the order of `all`: all of them, or those of `only` that exist."""
        if only is None:
            return [statistic.name for statistic in self.all()]
        measured = {name for name in only if self.get(name) is not None}
        return [statistic.name for statistic in self._primary_first() if statistic.name in measured]

    def all(self) -> list[Statistic]:
        """Return every statistic, the primary one first.

        Raises a `SettingsError` for an unusable or repeated name.
        """
        names = Counter(statistic.name for statistic in self)
        primary, who = self._scenario.primary_metric(), self._scenario.name
        if primary not in names:
            msg = f"{who}: primary_metric() is {primary!r}; expected one of {', '.join(names)}"
            raise SettingsError(msg)
        if repeated := [name for name, times in names.items() if times > 1]:
            msg = f"{who}: two metrics are named {repeated[0]!r}; rename your metric, or the label"
            raise SettingsError(msg)
        return self._primary_first()

    def _primary_first(self) -> list[Statistic]:
        primary = self._scenario.primary_metric()
        return sorted(self._made, key=lambda statistic: statistic.name != primary)


def _statistics(scenario: Scenario, table: PredictionTable, metrics: Sequence[Metric]) -> Iterator[Statistic]:
    yield from _OF_FORM[scenario.kind.form](table)
    yield from declared.of_cells(scenario, table, metrics)
    yield from declared.columns(metrics, table.predictions)
    yield from _of_every_cell(table)


def names_of_kind(scenario: Scenario) -> frozenset[str]:
    """Return the names that every cell of this kind of task has, whatever the scenario declares."""
    table = PredictionTable.of(scenario, ())
    statistics = (*_OF_FORM[scenario.kind.form](table), *_of_every_cell(table))
    return frozenset(statistic.name for statistic in statistics)


def metric_names(scenario: Scenario, metrics: Sequence[Metric] = ()) -> tuple[str, ...]:
    """Return all metrics that a cell of the scenario can have, the primary one first; `metrics` are its columns.

    Raises a `SettingsError` if the scenario's own metrics have unusable or repeated names, or if its
    primary metric does not exist.
    """
    return tuple(Catalogue(scenario, PredictionTable.of(scenario, ()), metrics).names())


def declaration(scenario: Scenario, name: str, metrics: Sequence[Metric] = ()) -> Statistic | None:
    """The statistic of a metric without any predictions, for what it declares: bounds, direction, paired test."""
    statistics = Catalogue(scenario, PredictionTable.of(scenario, ()), metrics).all()
    return next((statistic for statistic in statistics if statistic.name == MetricName.parse(name).base), None)


def is_metric(scenario: Scenario, name: str, metrics: Sequence[Metric] = ()) -> bool:
    """Return True if a cell of the scenario can have this metric, or this slice of one."""
    parsed = MetricName.parse(name)
    keys = () if parsed.slice is None else parsed.slice.keys
    return parsed.base in metric_names(scenario, metrics) and set(keys) <= set(scenario.group_columns)


def source_of(metric: str) -> Source:
    """Return what a metric, or a slice of it, is counted from: those of every cell and of the library declare it."""
    return _sources().get(MetricName.parse(metric).base, "answers")


@cache
def _sources() -> Mapping[str, Source]:
    from pytest_puma.metrics.library import LIBRARY

    of_library = {name: metric.source for metric in LIBRARY.values() for name in metric.names}
    return {**of_library, **calibration.SOURCES, **cost.SOURCES}


def _of_every_cell(table: PredictionTable) -> Iterator[Statistic]:
    """The rates of failures, the calibration, and the seconds and tokens per prediction."""
    finishes = [prediction.finish for prediction in table.predictions]
    failures = {
        "parse_failure_rate": ~table.parsed,
        "truncation_rate": np.array([finish in TRUNCATED for finish in finishes], dtype=np.bool_),
        "overflow_rate": np.array([finish == "overflow" for finish in finishes], dtype=np.bool_),
    }
    for name, rows in failures.items():
        # Whether an answer is right says nothing of whether there is one.
        comparison = ComparisonBasis(test="mcnemar", losses=rows.astype(np.float64), scored=True)
        yield proportion(name, rows, table.everything, better="low", comparison=comparison)
    yield from calibration.statistics(table)
    yield from cost.statistics(table)
