"""Columns: the scores of a metric for all rows of a cell become a statistic, whatever the metric is.

| scores | value | interval | looks early | paired test |
|---|---|---|---|---|
| 0 or 1 | share | Wilson | yes | McNemar |
| numbers with bounds | mean | effective Wilson | yes | sign flips |
| numbers without bounds | mean | bootstrap-t | yes | sign flips |
| vectors with a pool | the pool of their sums | effective Wilson if bounded, else percentiles | no | bootstrap |
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_puma.core import Metric, Pool, Prediction
from pytest_puma.metrics.scoring import combined
from pytest_puma.metrics.statistic import SHARE, Kernel, Statistic, mean, proportion, ratio
from pytest_puma.stats.arrays import Values, Weights


def statistics(metrics: Sequence[Metric], predictions: Sequence[Prediction]) -> Iterator[Statistic]:
    """The statistics of all columns; `predictions` carry their scores."""
    for metric in metrics:
        for name in () if metric.per == "cell" else metric.names:
            scores = [prediction.scores.get(name) for prediction in predictions]
            if metric.pool is None:
                yield _of_numbers(name, metric, np.array([_number(score) for score in scores], dtype=np.float64))
            else:
                yield _of_vectors(name, metric, metric.pool, scores)


def _number(score: Any) -> float:
    return math.nan if score is None else float(score)


def _of_numbers(name: str, metric: Metric, column: Values) -> Statistic:
    scored = ~np.isnan(column)
    values = column[scored]
    if metric.bounds == SHARE and np.isin(values, (0.0, 1.0)).all():
        statistic = proportion(name, column == 1.0, scored, better=metric.better, test="mcnemar")
        statistic = replace(statistic, rebuild="mean")
    else:
        statistic = mean(name, column, scored, better=metric.better, rebuild="mean", test="permutation")
        ceiling = math.inf if metric.bounds is None else metric.bounds[1]
        odd = _odd(values, metric.bounds)
        statistic = replace(statistic, floor=-math.inf, ceiling=ceiling, bounds=metric.bounds, odd=odd)
    return replace(
        statistic,
        unit=metric.unit,
        optional=bool(metric.needs),
        bare=not metric.interval,
        losses=_losses(column, metric),
        scored=True,
    )


def _odd(values: Values, bounds: tuple[float, float] | None) -> int | None:
    """The number of values that differ from the most frequent one: few of them show little of the spread."""
    if bounds is None or not len(values):
        return None
    _, counts = np.unique(values, return_counts=True)
    return int(len(values) - counts.max())


def _of_vectors(name: str, metric: Metric, pool: Pool, scores: Sequence[Any]) -> Statistic:
    scored = np.array([score is not None for score in scores], dtype=np.bool_)
    rows = [(0.0,) * pool.width if score is None else tuple(score) for score in scores]
    columns = np.array(rows, dtype=np.float64).reshape(len(rows), pool.width)
    alone = combined(metric, pool, columns) if rows else np.empty(0)
    # Without any score, a pool may return any number.
    nothing = np.zeros(len(rows))
    return Statistic(
        name=name,
        kernel=_pooled(columns, metric, pool) if scored.any() else ratio(nothing, nothing),
        n=int(scored.sum()),
        better=metric.better,
        unit=metric.unit,
        bounds=metric.bounds,
        inputs=np.where(scored[:, None], columns, np.nan),
        optional=bool(metric.needs),
        bare=not metric.interval,
        odd=_odd(alone[scored], metric.bounds),
        losses=_losses(np.where(scored, alone, np.nan), metric),
        scored=True,
    )


def _pooled(columns: Values, metric: Metric, pool: Pool) -> Kernel:
    """The pool of the weighted sums; a function in Python is called once for a block of resamples."""

    def kernel(weights: Weights) -> Values:
        return combined(metric, pool, weights @ columns)

    return kernel


def _losses(column: Values, metric: Metric) -> Values:
    """Loss of each row; 0 without a direction, as no change is then worse or better."""
    if metric.better == "neither":
        return np.where(np.isnan(column), np.nan, 0.0)
    return -column if metric.better == "high" else column
