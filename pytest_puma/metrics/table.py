"""Predictions as columns, made once for all metrics of a cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import DataError, Prediction, Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray


TOLERATED_FAILURES = 0.05
#: Significant digits of a probability that baselines keep.
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One row a prediction; `labels` are the valid answers, in the scenario's order.

    `gold`, `answer`: index of the label, -1 for none of them. `label_values`, `gold_value`,
    `answer_value`: the same as numbers, NaN where the text is none. `read`: an answer was read that
    the task allows (a valid label, or a finite number in a regression). `probabilities`: rows x
    labels, zeros where `has_probabilities` is false. `ordered`: the labels are steps of a scale.
    """

    labels: tuple[str, ...]
    ordered: bool
    predictions: tuple[Prediction, ...]
    gold: NDArray[np.intp]
    answer: NDArray[np.intp]
    label_values: NDArray[np.float64]
    gold_value: NDArray[np.float64]
    answer_value: NDArray[np.float64]
    read: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    has_probabilities: NDArray[np.bool_]

    @classmethod
    def of(cls, scenario: Scenario, predictions: Sequence[Prediction]) -> Table:
        """Lay out the predictions of a cell; a `DataError` names a gold that no answer could ever equal."""
        labels = tuple(scenario.valid_labels())
        golds = [prediction.gold for prediction in predictions]
        answers = [prediction.answer for prediction in predictions]
        label_values, gold_value, answer_value = _numbers(labels), _numbers(golds), _numbers(answers)
        if not scenario.kind.closed:
            gold, answer = _indices(gold_value, label_values), _indices(answer_value, label_values)
            usable, read = np.isfinite(gold_value), np.isfinite(answer_value)
        else:
            gold, answer = _indices(golds, labels), _indices(answers, labels)
            usable, read = gold >= 0, answer >= 0
        if not usable.all():
            raise _unusable(scenario, predictions[int(np.argmin(usable))], labels)
        return cls(
            labels=labels,
            ordered=scenario.ordered,
            predictions=tuple(predictions),
            gold=gold,
            answer=answer,
            label_values=label_values,
            gold_value=gold_value,
            answer_value=answer_value,
            read=read,
            probabilities=_probabilities(predictions, labels),
            has_probabilities=np.array([bool(p.probabilities) for p in predictions], dtype=np.bool_),
        )

    def __len__(self) -> int:
        return len(self.predictions)

    @property
    def kept_probabilities(self) -> NDArray[np.float64]:
        """With the digits that baselines keep: the same answers again have the same ones."""
        if not self.has_probabilities.any():
            return self.probabilities
        digits = [[float(f"{each:.{_DIGITS}g}") for each in row] for row in self.probabilities.tolist()]
        return np.array(digits, dtype=np.float64).reshape(self.probabilities.shape)

    @property
    def everything(self) -> NDArray[np.bool_]:
        """The mask of all rows."""
        return np.ones(len(self), dtype=np.bool_)


def _numbers(texts: Sequence[str | None]) -> NDArray[np.float64]:
    return np.array([_number(text) for text in texts], dtype=np.float64)


def _number(text: str | None) -> float:
    try:
        return math.nan if text is None else float(text)
    except ValueError:
        return math.nan


def _indices(keys: Iterable[object], labels: Iterable[object]) -> NDArray[np.intp]:
    positions = {label: index for index, label in enumerate(labels)}
    return np.array([positions.get(key, -1) for key in keys], dtype=np.intp)


def _probabilities(predictions: Sequence[Prediction], labels: Sequence[str]) -> NDArray[np.float64]:
    rows = [[(p.probabilities or {}).get(label, 0.0) for label in labels] for p in predictions]
    return np.array(rows, dtype=np.float64).reshape(len(predictions), len(labels))


def _unusable(scenario: Scenario, prediction: Prediction, labels: Sequence[str]) -> DataError:
    expected = scenario.kind.expected(labels)
    return DataError(
        f"{scenario.name}: sample {prediction.sample_id!r} has the gold answer {prediction.gold!r}; "
        f"expected {expected}: correct gold_label() or valid_labels()"
    )


def unread_note(table: Table) -> str:
    """What a reader must know of numbers that rest on the read answers alone, where more than a few were not read."""
    failures = int((~table.read).sum())
    if failures <= TOLERATED_FAILURES * len(table):
        return ""
    return f"unreliable: {failures} of {len(table)} answers could not be read"
