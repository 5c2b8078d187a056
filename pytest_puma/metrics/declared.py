"""Declared metrics: the scores of a metric for all rows become a statistic, and so does a function of a whole cell.

| scores | value | interval | looks early | paired test |
|---|---|---|---|---|
| 0 or 1 | share | Wilson | yes | McNemar |
| numbers with bounds | mean | effective Wilson | yes | sign flips |
| numbers without bounds | mean | bootstrap-t | yes | sign flips |
| vectors with a pool | the pool of their sums | effective Wilson if bounded, else percentiles | no | bootstrap |
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pytest_puma.core import Metric, Pool, Prediction, Scenario, SettingsError
from pytest_puma.metrics.scoring import as_number, combined, raised, unusable
from pytest_puma.metrics.statistic import SHARE, ComparisonBasis, IntervalBasis, Statistic, mean, proportion, ratio
from pytest_puma.metrics.table import PredictionTable
from pytest_puma.platform.signals import CALL, limited
from pytest_puma.stats.arrays import Values, Weights

RESAMPLES = 300  # each calls a Python function
#: With fewer rows, the coverage of percentiles is too low for an arbitrary metric.
MIN_ROWS = 100
_NAME = re.compile(r"[\w.+-]+")


def columns(metrics: Sequence[Metric], predictions: Sequence[Prediction]) -> Iterator[Statistic]:
    """The statistics of all columns; `predictions` carry their scores."""
    companions = {companion.name for metric in metrics for companion in metric.companions}
    for metric in metrics:
        optional = metric.name in companions or (bool(metric.needs) and not metric.asks)
        declared = {field: getattr(metric, field) for field in ("better", "unit", "source")}
        for name in () if metric.per == "cell" else metric.names:
            scores: list[Any] = [prediction.scores.get(name) for prediction in predictions]
            if metric.pool is None:
                column = [math.nan if score is None else float(score) for score in scores]
                statistic = _of_numbers(name, metric, np.array(column, dtype=np.float64), declared)
            else:
                statistic = _of_vectors(name, metric, metric.pool, scores, declared)
            interval = statistic.interval if metric.interval else None
            yield replace(statistic, bounds=metric.bounds, optional=optional, interval=interval)


def _of_numbers(name: str, metric: Metric, column: Values, declared: Mapping[str, Any]) -> Statistic:
    scored = ~np.isnan(column)
    values, losses = column[scored], _losses(column, metric)
    comparison = ComparisonBasis(test="mcnemar", losses=losses, scored=True, rebuild="mean")
    if metric.bounds == SHARE and np.isin(values, (0.0, 1.0)).all():
        return proportion(name, column == 1.0, scored, comparison=comparison, **declared)
    comparison = replace(comparison, test="permutation")
    limits = (-math.inf, math.inf if metric.bounds is None else metric.bounds[1])
    statistic = mean(name, column, scored, limits=limits, comparison=comparison, **declared)
    return replace(
        statistic, interval=statistic.interval and replace(statistic.interval, rarer=_rarer(values, metric.bounds))
    )


def _rarer(values: Values, bounds: tuple[float, float] | None) -> int | None:
    """The number of values that differ from the most frequent one: few of them show little of the spread."""
    if bounds is None or not len(values):
        return None
    _, counts = np.unique(values, return_counts=True)
    return int(len(values) - counts.max())


def _of_vectors(name: str, metric: Metric, pool: Pool, scores: Sequence[Any], declared: Mapping[str, Any]) -> Statistic:
    scored = np.array([score is not None for score in scores], dtype=np.bool_)
    rows = [(0.0,) * pool.width if score is None else tuple(score) for score in scores]
    columns = np.array(rows, dtype=np.float64).reshape(len(rows), pool.width)
    alone = combined(metric, pool, columns) if rows else np.empty(0)
    # Without any score, a pool may return any number. A function in Python is called once for a block of resamples.
    nothing = np.zeros(len(rows))
    losses = _losses(np.where(scored, alone, np.nan), metric)
    return Statistic(
        name=name,
        kernel=(lambda weights: combined(metric, pool, weights @ columns)) if scored.any() else ratio(nothing, nothing),
        n=int(scored.sum()),
        inputs=np.where(scored[:, None], columns, np.nan),
        interval=IntervalBasis(rarer=_rarer(alone[scored], metric.bounds)),
        comparison=ComparisonBasis(losses=losses, scored=True),
        **declared,
    )


def _losses(column: Values, metric: Metric) -> Values:
    """Loss of each row; 0 without a direction, as no change is then worse or better."""
    if metric.better == "neither":
        return np.where(np.isnan(column), np.nan, 0.0)
    return -column if metric.better == "high" else column


@dataclass(slots=True, eq=False)
class Repeated:
    """The kernel of a metric: calls it on the predictions, each repeated as often as its weight, under its sample id.

    `seconds` is the time of all `calls`. Calling it raises a `MetricError` with the `name` if the metric raises, or
    returns no finite number.
    """

    name: str
    metric: Callable[[Sequence[Prediction]], float]
    predictions: Sequence[Prediction]
    seconds: float = 0.0
    calls: int = 0

    def __call__(self, weights: Weights) -> Values:
        """Return the value of each resample."""
        started = time.perf_counter()
        values = np.array([self._value(repeats) for repeats in weights], dtype=np.float64)
        self.seconds += time.perf_counter() - started
        self.calls += len(weights)
        return values

    def _value(self, repeats: Values) -> float:
        rows = np.repeat(np.arange(len(self.predictions)), repeats.astype(np.intp)).tolist()
        try:
            with limited(CALL):
                value = self.metric([self.predictions[row] for row in rows])
        except ZeroDivisionError:  # a share of nothing: this resample has none of the counted samples
            return math.nan
        except Exception as error:
            raise raised(self.name, error) from error
        number = as_number(value)
        if number is None or math.isinf(number):
            raise unusable(self.name, value, "a finite number, NaN if there is nothing to measure")
        return number


def of_cells(scenario: Scenario, table: PredictionTable, metrics: Sequence[Metric] = ()) -> Iterator[Statistic]:
    """Yield the metrics of a whole cell: those that the scenario declares, and those of `metrics`.

    Raises a `SettingsError` for a name that no gate could contain.
    """
    of_cells = {metric.name: metric for metric in metrics if metric.per == "cell"}
    for name, metric in (*scenario.metrics().items(), *of_cells.items()):
        if not _NAME.fullmatch(name):
            msg = f"{scenario.name}: metrics() names {name!r}; expected letters, digits and any of _ . + - only"
            raise SettingsError(msg)
        declared = metric if isinstance(metric, Metric) else None
        yield Statistic(
            name=name,
            kernel=Repeated(name, metric, table.predictions),
            n=len(table),
            better="neither" if declared is None else declared.better,
            unit="" if declared is None else declared.unit,
            source="answers" if declared is None else declared.source,
            resamples=RESAMPLES,
            interval=IntervalBasis(min_rows=MIN_ROWS),
        )
