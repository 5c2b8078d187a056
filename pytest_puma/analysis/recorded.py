"""Predictions of a past run, ready to be measured again: its `Task` stands for the scenario, which is not needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from pytest_puma.core import DeclaredScore, Metric, Prediction, Scenario, Task
from pytest_puma.metrics import ScoredPredictions, names_of_kind
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.task_types import TaskKind

#: A metric that every cell has, in place of a primary metric that only its scenario can compute.
_ANYWHERE = "parse_failure_rate"


def recorded(task: Task, predictions: Sequence[Prediction], *, seed: int) -> ScoredPredictions:
    """Return the predictions of a cell with the metrics of its task, but those that are functions of a whole cell."""
    metrics = tuple(dict.fromkeys(metric for score in task.scores if (metric := _metric(score)) is not None))
    scenario = (_Ordered if task.ordered else _Recorded)(task, metrics)
    return ScoredPredictions(scenario, predictions, seed=seed, metrics=metrics)


class _Recorded(Scenario):
    """A scenario whose predictions exist: it has labels and a primary metric, and no data."""

    name: ClassVar[str] = "recorded"

    def __init__(self, task: Task, metrics: Sequence[Metric]) -> None:
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


class _Ordered(_Recorded):
    ordered: ClassVar[bool] = True


def _metric(score: DeclaredScore) -> Metric | None:
    """The metric whose scores are stored; None if only its project knows how to pool them."""
    if score.pooled:
        return next((each for each in LIBRARY.values() if score.name in each.names and each.pool is not None), None)
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
