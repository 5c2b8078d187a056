"""Scoring: every prediction gets its loss and the scores of the metrics, once, for all who ask later."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, groupby
from numbers import Complex, Real
from typing import Any, TypeAlias

import numpy as np

from pytest_puma.core import LOSS, Metric, MetricError, Pool, Prediction, Sample, Scenario, SettingsError
from pytest_puma.core.metric import Value
from pytest_puma.core.prediction import changed
from pytest_puma.errors import raised_in
from pytest_puma.phrases import shown
from pytest_puma.platform.signals import CALL, limited
from pytest_puma.stats.arrays import Values

#: Characters of a value in a message.
_MAX_SHOWN = 200
#: From a prediction and its scores to its loss.
_Loss: TypeAlias = Callable[[Prediction, Mapping[str, Value]], "float | None"]


def score(
    scenario: Scenario, samples: Sequence[Sample], predictions: Sequence[Prediction], metrics: Sequence[Metric] = ()
) -> tuple[Prediction, ...]:
    """The predictions with their scores; trials of a sample stand together.

    Raises a `MetricError` that names the metric and the sample if a metric raises or returns something unusable.
    """
    judged = {name for metric in metrics if metric.asks for name in metric.names}
    bare = [_with_scores(prediction, judged) for prediction in predictions]
    scores: list[dict[str, Any]] = [{} for _ in bare]
    loss = _loss_of(scenario, metrics)
    if metrics:
        by_id = {sample.id: sample for sample in samples}
        groups = groupby(bare, key=lambda prediction: prediction.sample_id)
        with limited(math.inf):  # one timer for the limits of all
            scores = list(
                chain.from_iterable(_scores(by_id[name], list(trials), metrics, loss) for name, trials in groups)
            )
    # One copy of each prediction: a copy of all fields takes longer than most metrics.
    scored = zip(bare, scores, strict=True)
    return tuple(changed(prediction, scores={LOSS: loss(prediction, row), **row}) for prediction, row in scored)


def _with_scores(prediction: Prediction, names: AbstractSet[str]) -> Prediction:
    """The prediction with these scores alone."""
    if prediction.scores.keys() <= names:
        return prediction
    return changed(prediction, scores={name: value for name, value in prediction.scores.items() if name in names})


def losses_of(
    scenario: Scenario, predictions: Sequence[Prediction], metrics: Sequence[Metric] = ()
) -> list[float | None]:
    """Losses of the answers: those that `score` stored, else by the kind of task or the primary metric."""
    loss = _loss_of(scenario, metrics)
    return [p.loss if LOSS in p.scores else loss(p, p.scores) for p in predictions]


def _loss_of(scenario: Scenario, metrics: Sequence[Metric]) -> _Loss:
    return _loss_by_score(scenario, metrics) if scenario.kind.scored else _loss_by_kind(scenario)


def _loss_by_kind(scenario: Scenario) -> _Loss:
    kind, labels = scenario.kind, scenario.valid_labels()

    def loss(prediction: Prediction, scores: Mapping[str, Value]) -> float | None:  # noqa: ARG001 - of one type
        answer = prediction.answer
        return None if answer is None or not kind.valid(answer, labels) else kind.loss(answer, prediction.golds)

    return loss


def _loss_by_score(scenario: Scenario, metrics: Sequence[Metric]) -> _Loss:
    """The distance of the primary metric's score from its best value; the score itself if it has no bounds."""
    primary = scenario.primary_metric()
    metric = next((metric for metric in metrics if primary in metric.names), None)

    def loss(prediction: Prediction, scores: Mapping[str, Value]) -> float | None:  # noqa: ARG001 - of one type
        value = scores.get(primary)
        if value is None or metric is None or metric.better == "neither":
            return None
        number = float(value) if metric.pool is None else float(combined(metric, metric.pool, np.array([value]))[0])  # type: ignore[arg-type]
        if metric.better == "low":
            return number if metric.bounds is None else number - metric.bounds[0]
        return -number if metric.bounds is None else metric.bounds[1] - number

    return loss


def _scores(
    sample: Sample, trials: Sequence[Prediction], metrics: Sequence[Metric], loss: _Loss
) -> list[dict[str, Any]]:
    """The scores of the trials of a sample, by the names of their numbers."""
    names = [name for metric in metrics if metric.per != "cell" for name in metric.names]
    scores: list[dict[str, Any]] = [dict.fromkeys(names) for _ in trials]
    for metric in metrics:
        if metric.per == "trial":
            for row, trial in zip(scores, trials, strict=True):
                row.update(_of_trial(metric, sample, trial))
    of_samples = [metric for metric in metrics if metric.per == "sample"]
    if of_samples:
        # They see how good each trial is.
        scored = [
            changed(trial, scores={LOSS: loss(trial, row), **row}) for trial, row in zip(trials, scores, strict=True)
        ]
        for metric in of_samples:
            # The first trial stands for the question.
            scores[0].update(_row(metric, sample, scored))
    return scores


def _of_trial(metric: Metric, sample: Sample, trial: Prediction) -> Mapping[str, Any]:
    if metric.asks:
        return {name: trial.scores.get(name) for name in metric.names}
    if metric.needs and any(not getattr(trial, need) for need in metric.needs):
        return dict.fromkeys(metric.names)
    return _row(metric, sample, trial)


def _row(metric: Metric, sample: Sample, scored: Prediction | Sequence[Prediction]) -> Mapping[str, Any]:
    """The values of a metric by the names of its numbers."""
    try:
        with limited(CALL):
            value = metric.score(sample, scored)
    except SettingsError as error:
        # Of the library: it names the metric and the sample itself.
        raise MetricError(str(error)) from error
    except Exception as error:
        raise raised(metric.name, error, where=f" on sample {sample.id!r}") from error
    return values_of(metric, sample, value)


def values_of(metric: Metric, sample: Sample, value: Any) -> Mapping[str, Any]:
    """Return the value of a metric by the names of its numbers. Raises a `MetricError` if it is none."""
    if not metric.parts:
        return {metric.name: _checked(metric, sample, metric.name, value)}
    if not isinstance(value, Mapping) or sorted(value) != sorted(metric.parts):
        raise _unusable(metric, sample, value, f"a value for each part: {', '.join(metric.parts)}")
    return {f"{metric.name}.{part}": _checked(metric, sample, part, value[part]) for part in metric.parts}


def raised(metric: str, error: Exception, *, where: str = "") -> MetricError:
    """Return the error of a metric that raised."""
    return MetricError(f"metric {metric!r} raised {type(error).__name__}{where}: {raised_in(error)}")


def _checked(metric: Metric, sample: Sample, name: str, value: Any) -> Any:
    if value is None:
        return None
    if metric.pool is not None:
        if not isinstance(value, (tuple, list)) or len(value) != metric.pool.width:
            raise _unusable(metric, sample, value, f"a tuple of {metric.pool.width} numbers")
        return tuple(_number(metric, sample, name, element) for element in value)
    number = _number(metric, sample, name, value)
    if metric.bounds is not None and not metric.bounds[0] <= number <= metric.bounds[1]:
        low, high = metric.bounds
        raise _unusable(metric, sample, value, f"a number from {low:g} to {high:g}; set bounds=None if it has none")
    return number


def _number(metric: Metric, sample: Sample, name: str, value: Any) -> float:
    number = as_number(value)
    if number is None:
        raise _unusable(metric, sample, value, f"a number or None for {name}")
    if not math.isfinite(number):
        raise _unusable(metric, sample, value, "a finite number, or None if the metric does not apply")
    return number


def as_number(value: Any) -> float | None:
    """Return the number that a metric returned; None if it is none, as a text, or one that no float can hold.

    Python reads numbers in texts, and NumPy drops the imaginary part of a complex number with a warning.
    """
    if isinstance(value, (str, bytes, bytearray)) or (isinstance(value, Complex) and not isinstance(value, Real)):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, ArithmeticError, Warning):
        return None


def combined(metric: Metric, pool: Pool, sums: Values) -> Values:
    """Return the value of a pool for each row of sums. Raises a `MetricError` if it raises or returns no numbers."""
    try:
        values = np.asarray(pool.combine(sums))
    except Exception as error:
        raise raised(metric.name, error, where=" in its pool") from error
    if values.shape != (len(sums),) or values.dtype.kind not in "fiub":
        raise unusable(metric.name, values, f"an array of {len(sums)} numbers, one a row of sums", where=" in its pool")
    return values.astype(np.float64, copy=False)


def unusable(metric: str, value: Any, expected: str, *, where: str = "") -> MetricError:
    """Return the error of a metric that returned something else than expected."""
    return MetricError(f"metric {metric!r} returned {shown(value, _MAX_SHOWN)}{where}; expected {expected}")


def _unusable(metric: Metric, sample: Sample, value: Any, expected: str) -> MetricError:
    return unusable(metric.name, value, expected, where=f" for sample {sample.id!r}")
