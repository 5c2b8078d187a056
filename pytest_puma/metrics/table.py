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
#: Significant digits of a probability in a baseline.
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One row per prediction; `labels` are the valid answers, in the scenario's order.

    `gold`, `answer`: index of the label, -1 for none of them. `label_values`, `gold_value`,
    `answer_value`: the same as numbers, NaN if the text is no number. `parsed`: the answer is valid
    (a label, or a finite number in a regression). `probabilities`: rows x
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
    parsed: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    has_probabilities: NDArray[np.bool_]

    @classmethod
    def of(cls, scenario: Scenario, predictions: Sequence[Prediction]) -> Table:
        """Return the table of a cell's predictions; a `DataError` names an invalid gold answer."""
        labels = tuple(scenario.valid_labels())
        golds = [prediction.gold for prediction in predictions]
        answers = [prediction.answer for prediction in predictions]
        label_values, gold_value, answer_value = _numbers(labels), _numbers(golds), _numbers(answers)
        if not scenario.kind.closed:
            gold, answer = _indices(gold_value, label_values), _indices(answer_value, label_values)
            usable, parsed = np.isfinite(gold_value), np.isfinite(answer_value)
        else:
            gold, answer = _indices(golds, labels), _indices(answers, labels)
            usable, parsed = gold >= 0, answer >= 0
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
            parsed=parsed,
            probabilities=_probabilities(predictions, labels),
            has_probabilities=np.array([bool(p.probabilities) for p in predictions], dtype=np.bool_),
        )

    def __len__(self) -> int:
        return len(self.predictions)

    @property
    def kept_probabilities(self) -> NDArray[np.float64]:
        """The probabilities rounded as in baselines, so that a repeated run has equal ones."""
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


def parse_failure_note(table: Table) -> str:
    """Return the note on statistics of the parsed answers alone; empty if parse failures are tolerably few."""
    failures = int((~table.parsed).sum())
    if failures <= TOLERATED_FAILURES * len(table):
        return ""
    return f"unreliable: {failures} of {len(table)} answers could not be parsed"
