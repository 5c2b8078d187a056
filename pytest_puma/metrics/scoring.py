"""Scoring: every prediction gets its loss and the scores of the metrics, once, for all who ask later."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from pytest_puma.core import LOSS, Metric, MetricError, Prediction, Sample, Scenario


def score(
    scenario: Scenario, samples: Sequence[Sample], predictions: Sequence[Prediction], metrics: Sequence[Metric] = ()
) -> tuple[Prediction, ...]:
    """The predictions with their scores; trials of a sample stand together.

    Raises a `MetricError` that names the metric and the sample if a metric raises or returns something unusable.
    """
    by_id = {sample.id: sample for sample in samples}
    losses = losses_of(scenario, predictions)
    known = [replace(each, scores={LOSS: loss}) for each, loss in zip(predictions, losses, strict=True)]
    if not metrics:
        return tuple(known)
    groups = groupby(known, key=lambda prediction: prediction.sample_id)
    return tuple(each for sample_id, trials in groups for each in _scored(by_id[sample_id], list(trials), metrics))


def losses_of(scenario: Scenario, predictions: Sequence[Prediction]) -> list[float | None]:
    """Losses of the answers by their kind of task: those that `score` stored, else computed."""
    kind, labels = scenario.kind, scenario.valid_labels()

    def loss(prediction: Prediction) -> float | None:
        if LOSS in prediction.scores:
            return prediction.loss
        answer = prediction.answer
        return None if answer is None or not kind.valid(answer, labels) else kind.loss(answer, prediction.gold)

    return [loss(prediction) for prediction in predictions]


def _scored(sample: Sample, trials: Sequence[Prediction], metrics: Sequence[Metric]) -> list[Prediction]:
    scores: list[dict[str, Any]] = [dict(trial.scores) for trial in trials]
    for metric in metrics:
        if metric.per == "sample":
            # The first trial stands for the question.
            scores[0].update(_row(metric, sample, trials))
            for other in scores[1:]:
                other.update(dict.fromkeys(metric.names))
        elif metric.per == "trial":
            for known, trial in zip(scores, trials, strict=True):
                known.update(_of_trial(metric, sample, trial))
    return [replace(trial, scores=known) for trial, known in zip(trials, scores, strict=True)]


def _of_trial(metric: Metric, sample: Sample, trial: Prediction) -> Mapping[str, Any]:
    if "probabilities" in metric.needs and not trial.probabilities:
        return dict.fromkeys(metric.names)
    return _row(metric, sample, trial)


def _row(metric: Metric, sample: Sample, scored: Prediction | Sequence[Prediction]) -> Mapping[str, Any]:
    """The values of a metric by the names of its numbers."""
    try:
        value = metric.score(sample, scored)
    except Exception as error:
        fault = " ".join(str(error).split())
        place = _place(error)
        msg = f"metric {metric.name!r} raised {type(error).__name__} on sample {sample.id!r}: {fault} ({place})"
        raise MetricError(msg) from error
    if not metric.parts:
        return {metric.name: _checked(metric, sample, metric.name, value)}
    if not isinstance(value, Mapping) or sorted(value) != sorted(metric.parts):
        raise _unusable(metric, sample, value, f"a value for each part: {', '.join(metric.parts)}")
    return {f"{metric.name}.{part}": _checked(metric, sample, part, value[part]) for part in metric.parts}


def _place(error: Exception) -> str:
    """Where the metric raised: `test_invoices.py:12`."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


def _checked(metric: Metric, sample: Sample, name: str, value: Any) -> Any:
    if value is None:
        return None
    if metric.pool is not None:
        if not isinstance(value, (tuple, list)) or len(value) != metric.pool.width:
            raise _unusable(metric, sample, value, f"a tuple of {metric.pool.width} numbers")
        return tuple(_number(metric, sample, name, each) for each in value)
    number = _number(metric, sample, name, value)
    if metric.bounds is not None and not metric.bounds[0] <= number <= metric.bounds[1]:
        low, high = metric.bounds
        raise _unusable(metric, sample, value, f"a number from {low:g} to {high:g}; set bounds=None if it has none")
    return number


def _number(metric: Metric, sample: Sample, name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise _unusable(metric, sample, value, f"a number or None for {name}") from None
    if number != number or number in {float("inf"), float("-inf")}:  # noqa: PLR0124 - NaN
        raise _unusable(metric, sample, value, "a finite number, or None if the metric does not apply")
    return number


def _unusable(metric: Metric, sample: Sample, value: Any, expected: str) -> MetricError:
    return MetricError(f"metric {metric.name!r} returned {value!r} for sample {sample.id!r}; expected {expected}")
