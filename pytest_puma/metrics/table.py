"""Predictions as columns, made once for all metrics of a cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_puma.baseline.columns import rounded
from pytest_puma.core import DataError, Prediction, Scenario
from pytest_puma.stats.arrays import Indices, Mask, Values
from pytest_puma.task_types import Form

TOLERATED_FAILURES = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionTable:
    """One row per prediction; `labels` are the valid answers, in the scenario's order.

    `gold`, `answer`: index of the label, -1 for none of them. `label_values`, `gold_value`,
    `answer_value`: the same as numbers, NaN if the text is no number. `parsed`: the answer is valid
    (a label, or a finite number in a regression). `probabilities`: rows x
    labels, zeros where `has_probabilities` is false. `ordered`: the labels are steps of a scale. `right`: the answer is
    one of the right ones.

    Of choices, the labels are positions in the data, as many as the sample with most choices has. Texts have no labels.
    """

    labels: tuple[str, ...]
    ordered: bool
    predictions: tuple[Prediction, ...]
    gold: Indices
    answer: Indices
    label_values: Values
    gold_value: Values
    answer_value: Values
    parsed: Mask
    probabilities: Values
    has_probabilities: Mask
    right: Mask

    @classmethod
    def of(cls, scenario: Scenario, predictions: Sequence[Prediction]) -> PredictionTable:
        """Return the table of a cell's predictions; a `DataError` names an invalid gold answer."""
        form, positions = scenario.kind.form, range(max((len(p.choices) for p in predictions), default=0))
        labels = tuple(map(str, positions)) if form == "choices" else tuple(scenario.valid_labels())
        golds, answers = [p.gold for p in predictions], [p.answer for p in predictions]
        if form == "numbers":
            label_values, gold_value, answer_value = map(_numbers, (labels, golds, answers))
            gold, answer = (_indices(values, label_values) for values in (gold_value, answer_value))
            usable, parsed = np.isfinite(gold_value), np.isfinite(answer_value)
        else:
            label_values, gold_value, answer_value = (np.full(size, np.nan) for size in (0, len(golds), len(golds)))
            gold, answer = (_index(form, column, labels, predictions) for column in (golds, answers))
            usable = (gold >= 0) | (form != "labels")
            parsed = np.array([a is not None for a in answers], dtype=np.bool_) if form == "texts" else answer >= 0
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
            probabilities=_probabilities(predictions, labels, by_position=form == "choices"),
            has_probabilities=np.array([bool(p.probabilities) for p in predictions], dtype=np.bool_),
            right=np.array([p.answer in p.golds for p in predictions], dtype=np.bool_),
        )

    def __len__(self) -> int:
        return len(self.predictions)

    @property
    def kept_probabilities(self) -> Values:
        """The probabilities rounded as in baselines, so that a repeated run has equal ones."""
        if not self.has_probabilities.any():
            return self.probabilities
        digits = [list(map(rounded, row)) for row in self.probabilities.tolist()]
        return np.array(digits, dtype=np.float64).reshape(self.probabilities.shape)

    @property
    def everything(self) -> Mask:
        """The mask of all rows."""
        return np.ones(len(self), dtype=np.bool_)


def _index(
    form: Form, texts: Sequence[str | None], labels: Sequence[str], predictions: Sequence[Prediction]
) -> Indices:
    """The index of each text among the labels, or among the choices of its prediction; -1 for none."""
    if form == "labels":
        return _indices(texts, labels)
    choices = [prediction.choices if form == "choices" else () for prediction in predictions]
    indices = [names.index(text) if text in names else -1 for names, text in zip(choices, texts, strict=True)]
    return np.array(indices, dtype=np.intp)


def _numbers(texts: Sequence[str | None]) -> Values:
    return np.array([_number(text) for text in texts], dtype=np.float64)


def _number(text: str | None) -> float:
    try:
        return math.nan if text is None else float(text)
    except ValueError:
        return math.nan


def _indices(keys: Iterable[object], labels: Iterable[object]) -> Indices:
    positions = {label: index for index, label in enumerate(labels)}
    return np.array([positions.get(key, -1) for key in keys], dtype=np.intp)


def _probabilities(predictions: Sequence[Prediction], labels: Sequence[str], *, by_position: bool) -> Values:
    probabilities = np.zeros((len(predictions), len(labels)))
    for row, prediction in enumerate(predictions):
        if prediction.probabilities:
            names = prediction.choices if by_position else labels
            probabilities[row, : len(names)] = [prediction.probabilities.get(name, 0.0) for name in names]
    return probabilities


def _unusable(scenario: Scenario, prediction: Prediction, labels: Sequence[str]) -> DataError:
    expected = scenario.kind.expected(labels)
    return DataError(
        f"{scenario.name}: sample {prediction.sample_id!r} has the gold answer {prediction.gold!r}; "
        f"expected {expected}: correct gold_label() or valid_labels()"
    )


def parse_failure_note(table: PredictionTable) -> str:
    """Return the note on statistics of the parsed answers alone; empty if parse failures are tolerably few."""
    failures = int((~table.parsed).sum())
    if failures <= TOLERATED_FAILURES * len(table):
        return ""
    return f"unreliable: {failures} of {len(table)} answers could not be parsed"
