"""Measure the predictions of a past run again: the `TaskInfo` of their cell stands for the scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from pytest_puma.core import DeclaredScore, Metric, Prediction, Scenario, TaskInfo
from pytest_puma.metrics import ScoredPredictions, names_of_kind
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.task_types import TaskKind

#: A metric that every cell has, in place of a primary metric that only its scenario can compute.
_ANYWHERE = "parse_failure_rate"


def scored_by_task(task: TaskInfo, predictions: Sequence[Prediction], *, seed: int) -> ScoredPredictions:
    """Return the predictions of a cell with the metrics of its task, but those that are functions of a whole cell."""
    metrics = tuple(dict.fromkeys(metric for score in task.scores if (metric := _metric(score)) is not None))
    scenario = (_OrderedScenario if task.ordered else _PastScenario)(task, metrics)
    return ScoredPredictions(scenario, predictions, seed=seed, metrics=metrics)


class _PastScenario(Scenario):
    """A scenario whose predictions exist: it has labels and a primary metric, and no data."""

    name: ClassVar[str] = "past"

    def __init__(self, task: TaskInfo, metrics: Sequence[Metric]) -> None:
        self._task = task
        self._names = names_of_kind(self).union(*(metric.names for metric in metrics))

    @property
    def kind(self) -> TaskKind:
        return self._task.kind

    def valid_labels(self) -> list[str]:
        return list(self._task.labels)

    def primary_metric(self) -> str:
        return self._task.primary if self._task.primary in self._names else _ANYWHERE

    def sample(self, n: int, seed: int = 42) -> NoReturn:
        raise NotImplementedError

    def gold_label(self, instance: dict[str, Any]) -> NoReturn:
        raise NotImplementedError

    def parse_response(self, response: str) -> NoReturn:
        raise NotImplementedError


class _OrderedScenario(_PastScenario):
    ordered: ClassVar[bool] = True


def _metric(score: DeclaredScore) -> Metric | None:
    """The metric whose scores are stored; None if only its project knows how to pool them."""
    if score.pooled:
        return next(
            (metric for metric in LIBRARY.values() if score.name in metric.names and metric.pool is not None), None
        )
    return Metric(
        name=score.name,
        score=_scored_before,
        better=score.better,
        unit=score.unit,
        bounds=score.bounds,
        interval=score.interval,
    )


def _scored_before(*_: object) -> NoReturn:
    raise NotImplementedError
