"""Predictions as columns, made once for all metrics of a cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_puma.baseline import rounded
from pytest_puma.core import DataError, Prediction, Scenario
from pytest_puma.stats.arrays import Indices, Mask, Values
from pytest_puma.task_types import Form

TOLERATED_FAILURES = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One row per prediction; `labels` are the valid answers, in the scenario's order.

    `gold`, `answer`: index of the label, -1 for none of them. `label_values`, `gold_value`,
    `answer_value`: the same as numbers, NaN if the text is no number. `parsed`: the answer is valid
    (a label, or a finite number in a regression). `probabilities`: rows x
    labels, zeros where `has_probabilities` is false. `ordered`: the labels are steps of a scale. `right`: the answer is
    one of the right ones.

    Of choices, the labels are places in the data, as many as the sample with most choices has. Texts have no labels.
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
    def of(cls, scenario: Scenario, predictions: Sequence[Prediction]) -> Table:
        """Return the table of a cell's predictions; a `DataError` names an invalid gold answer."""
        form = scenario.kind.form
        labels = _places_of(predictions) if form == "choices" else tuple(scenario.valid_labels())
        columns = _COLUMNS[form](predictions, labels)
        if not columns.usable.all():
            raise _unusable(scenario, predictions[int(np.argmin(columns.usable))], labels)
        return cls(
            labels=labels,
            ordered=scenario.ordered,
            predictions=tuple(predictions),
            gold=columns.gold,
            answer=columns.answer,
            label_values=columns.label_values,
            gold_value=columns.gold_value,
            answer_value=columns.answer_value,
            parsed=columns.parsed,
            probabilities=_probabilities(predictions, labels, by_place=form == "choices"),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """The gold labels and answers of a table in one of the forms of answers; `usable`: the gold label is valid."""

    gold: Indices
    answer: Indices
    label_values: Values
    gold_value: Values
    answer_value: Values
    parsed: Mask
    usable: Mask


def _of_numbers(predictions: Sequence[Prediction], labels: Sequence[str]) -> _Columns:
    values = _numbers(labels)
    gold, answer = (_numbers(texts) for texts in _golds_and_answers(predictions))
    return _Columns(
        gold=_indices(gold, values),
        answer=_indices(answer, values),
        label_values=values,
        gold_value=gold,
        answer_value=answer,
        parsed=np.isfinite(answer),
        usable=np.isfinite(gold),
    )


def _of_labels(predictions: Sequence[Prediction], labels: Sequence[str]) -> _Columns:
    gold, answer = (_indices(texts, labels) for texts in _golds_and_answers(predictions))
    return _without_values(gold, answer, parsed=answer >= 0, usable=gold >= 0)


def _of_choices(predictions: Sequence[Prediction], _: Sequence[str]) -> _Columns:
    golds, answers = _golds_and_answers(predictions)
    gold, answer = _places(predictions, golds), _places(predictions, answers)
    return _without_values(gold, answer, parsed=answer >= 0, usable=np.ones(len(gold), dtype=np.bool_))


def _of_texts(predictions: Sequence[Prediction], _: Sequence[str]) -> _Columns:
    none = np.full(len(predictions), -1)
    parsed = np.array([each.answer is not None for each in predictions], dtype=np.bool_)
    return _without_values(none, none, parsed=parsed, usable=np.ones(len(predictions), dtype=np.bool_))


def _without_values(gold: Indices, answer: Indices, *, parsed: Mask, usable: Mask) -> _Columns:
    values = np.full(len(gold), np.nan)
    return _Columns(
        gold=gold,
        answer=answer,
        label_values=np.empty(0),
        gold_value=values,
        answer_value=values,
        parsed=parsed,
        usable=usable,
    )


_COLUMNS: Mapping[Form, Callable[[Sequence[Prediction], Sequence[str]], _Columns]] = {
    "labels": _of_labels,
    "numbers": _of_numbers,
    "choices": _of_choices,
    "texts": _of_texts,
}


def _golds_and_answers(predictions: Sequence[Prediction]) -> tuple[list[str], list[str | None]]:
    return [prediction.gold for prediction in predictions], [prediction.answer for prediction in predictions]


def _places_of(predictions: Sequence[Prediction]) -> tuple[str, ...]:
    """The places of choices, as many as the largest sample has."""
    return tuple(map(str, range(max((len(each.choices) for each in predictions), default=0))))


def _places(predictions: Sequence[Prediction], texts: Sequence[str | None]) -> Indices:
    """The place of a text among the choices of its prediction, -1 if it is none of them."""
    both = zip(predictions, texts, strict=True)
    return np.array([each.choices.index(text) if text in each.choices else -1 for each, text in both], dtype=np.intp)


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


def _probabilities(predictions: Sequence[Prediction], labels: Sequence[str], *, by_place: bool) -> Values:
    if not any(each.probabilities for each in predictions):
        return np.zeros((len(predictions), len(labels)))
    names = ((each, each.choices if by_place else labels) for each in predictions)
    rows = [[(each.probabilities or {}).get(name, 0.0) for name in own] for each, own in names]
    padded = [[*row, *[0.0] * (len(labels) - len(row))] for row in rows]
    return np.array(padded, dtype=np.float64).reshape(len(predictions), len(labels))


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
