"""Texts with given scores, for tests of what follows from scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_puma.core import Metric, Prediction
from pytest_puma.metrics import PairedPredictions, ScoredPredictions, pair
from tests.composed import Capitals
from tests.factories import prediction


class Letters(Capitals):
    """A completion whose primary metric is `closeness`."""

    name = "letters"
    scores = ("closeness",)


def closeness(**declared: Any) -> Metric:
    return Metric(name="closeness", score=lambda *_: None, **declared)


def texts(scores: Sequence[float | None], *, size: int = 1, trials: int = 1) -> list[Prediction]:
    """Texts with these scores; `size` rows that follow each other share a unit, `trials` of them are one sample."""
    return [
        prediction(
            f"s{row // trials}",
            trial=row % trials,
            gold="Rome",
            answer="Paris",
            scores={"closeness": score},
            units=(f"u{row // size}",),
        )
        for row, score in enumerate(scores)
    ]


def scored_texts(answered: Sequence[Prediction], **declared: Any) -> ScoredPredictions:
    return ScoredPredictions(Letters(), answered, seed=1, metrics=[closeness(**declared)])


def paired_texts(new: Sequence[Prediction], old: Sequence[Prediction], **declared: Any) -> PairedPredictions:
    return pair(scored_texts(new, **declared), {each.key: each for each in old})
