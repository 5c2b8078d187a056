"""Scenarios and predictions made up for the tests of the metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from pytest_puma.core import Measure, OwnMetric, Prediction, Scenario
from pytest_puma.metrics import ScoredPredictions

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("A", "B", "C", "D")
POINTS = ("1", "2", "3", "5", "8", "13", "21", "34")


class Task(Scenario):
    """Labels and metrics; what a model would need is not asked for here."""

    def __init__(
        self, labels: Sequence[str], own: Mapping[str, OwnMetric] | None = None, primary: str | None = None
    ) -> None:
        self._labels, self._own, self._primary = labels, own or {}, primary

    def sample(self, n: int, seed: int = 42) -> pd.DataFrame:
        raise NotImplementedError

    def gold_label(self, instance: dict[str, Any]) -> str:
        raise NotImplementedError

    def parse_response(self, response: str) -> str | None:
        raise NotImplementedError

    def valid_labels(self) -> list[str]:
        return list(self._labels)

    def metrics(self) -> Mapping[str, OwnMetric]:
        return self._own

    def primary_metric(self) -> str:
        return self._primary or super().primary_metric()


class Triage(Task):
    name = "triage"
    task_type = "classification"

    def __init__(
        self, labels: Sequence[str] = LABELS, own: Mapping[str, OwnMetric] | None = None, primary: str | None = None
    ) -> None:
        super().__init__(labels, own, primary)


class OrderedTriage(Triage):
    ordered = True


class Estimation(Task):
    name = "estimation"
    task_type = "regression"

    def __init__(self, labels: Sequence[str] = POINTS, own: Mapping[str, OwnMetric] | None = None) -> None:
        super().__init__(labels, own)


def predictions(
    golds: Sequence[str],
    answers: Sequence[str | None],
    probabilities: Sequence[Mapping[str, float] | None] | None = None,
) -> list[Prediction]:
    return [
        Prediction(sample_id=f"s{row}", gold=gold, answer=answer, probabilities=known, units=(f"s{row}",))
        for row, (gold, answer, known) in enumerate(
            zip(golds, answers, probabilities or [None] * len(golds), strict=True)
        )
    ]


def measured(scenario: Scenario, found: Sequence[Prediction], *, seed: int = 1) -> dict[str, Measure]:
    return ScoredPredictions(scenario, found, seed=seed).measures()


def distributions(labels: Sequence[str]) -> st.SearchStrategy[dict[str, float]]:
    shares = st.lists(st.integers(0, 20), min_size=len(labels), max_size=len(labels)).filter(any)
    return shares.map(lambda parts: {label: part / sum(parts) for label, part in zip(labels, parts, strict=True)})


answered = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from([*LABELS, None])), min_size=1, max_size=60)
