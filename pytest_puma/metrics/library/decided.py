"""Metrics of the answer in a reply, for replies that were cut off: what would follow may be the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pytest_puma.core import Prediction, Sample
from pytest_puma.core.prediction import changed
from pytest_puma.metrics.library.csv_table import unstripped
from pytest_puma.replies.cut import without_last_word
from pytest_puma.replies.readers import marked_answers

_Score: TypeAlias = Callable[[Sample, Prediction], float | None]


def decided(score: _Score) -> _Score:
    """Return a score function that gives 0 to a cut reply unless it marks its answer before the last word.

    That word may be incomplete, so the score without it counts too: `#### 1` may be the beginning of `#### 18`.
    """

    def of_decided(sample: Sample, prediction: Prediction) -> float | None:
        value = score(sample, prediction)
        if not value or not prediction.truncated:
            return value
        shorter = without_last_word(unstripped(prediction))
        if next(marked_answers(shorter), None) is None:
            return 0.0
        return min(value, score(sample, changed(prediction, reply=shorter)) or 0.0)

    return of_decided
