"""Flags of an answer, by which the page filters samples: a bit for each property."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_puma.codec.plain import storable
from pytest_puma.core import Flip, Key, Prediction
from pytest_puma.task_types import TaskKind

PRESENT = 1 << 0
RIGHT = 1 << 1
PARSE_FAILURE = 1 << 2
CUT_OFF = 1 << 3
FLIP_WORSE = 1 << 4
FLIP_BETTER = 1 << 5
LEFT_OUT = 1 << 6
SHORTENED = 1 << 7
DIFFERS = 1 << 8
SURE_AND_WRONG = 1 << 9
UNSCORED = 1 << 10

#: Minimum probability of the most probable label of a sure answer.
_SURE = 0.9


def flags_of(kind: TaskKind, predictions: Iterable[Prediction], flips: Iterable[Flip]) -> Iterator[int]:
    """Yield the flags of each prediction, but those that depend on other cells or on the size of the page."""
    flipped = {key_of(flip): FLIP_BETTER if flip.better else FLIP_WORSE for flip in flips}
    for prediction in predictions:
        failed = is_parse_failure(kind, prediction)
        wrong = failed or prediction.loss not in {0, None}
        yield (
            PRESENT
            | (RIGHT if prediction.loss == 0 else 0)
            | (PARSE_FAILURE if failed else 0)
            | (UNSCORED if prediction.loss is None and not failed else 0)
            | (CUT_OFF if prediction.truncated or prediction.finish == "overflow" else 0)
            | (SURE_AND_WRONG if wrong and (top_probability(prediction) or 0) >= _SURE else 0)
            | flipped.get(prediction.key, 0)
        )


def key_of(flip: Flip) -> Key:
    """Return the sample and trial of a flip, as files have it."""
    return storable(flip.sample_id), flip.trial or 0


def is_parse_failure(kind: TaskKind, prediction: Prediction) -> bool:
    """Whether metrics count no answer; an answer without a loss is a text that its metric does not apply to."""
    return prediction.answer is None or (prediction.loss is None and not kind.scored)


def top_probability(prediction: Prediction) -> float | None:
    """Return the probability of the most probable label, None without probabilities."""
    return max(prediction.probabilities.values()) if prediction.probabilities else None
