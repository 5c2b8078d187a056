"""How well probabilities rank: the area under the ROC curve, and average precision, of one label against all others.

Definitions are those of scikit-learn: equal probabilities share a threshold. A macro value is the mean over the labels
that occur; of two labels, `roc_auc` is that of either one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from pytest_puma.metrics.statistic import SHARE, Kernel, Statistic, divide, on_rows
from pytest_puma.metrics.table import PredictionTable
from pytest_puma.stats.arrays import Mask, Values, Weights

#: In the order of the last axis of `ranked`.
NAMES = ("roc_auc", "average_precision")
#: With fewer samples of a label, or of all others, the coverage of the intervals is too low.
MIN_LABEL_SIZE = 10
#: Each sums over all thresholds; the intervals need the variance alone.
RESAMPLES = 300


def of_labels(table: PredictionTable) -> Iterator[Statistic]:
    """Yield both metrics over all labels, then of each label; they need probabilities."""
    scored, curves = table.has_probabilities, _Curves(table)
    gold = table.gold[scored]
    sizes = np.bincount(gold, minlength=len(table.labels))
    inputs = np.where(scored[:, None], np.column_stack([table.gold, table.kept_probabilities]), np.nan)
    of_scored = partial(Statistic, n=len(gold), bounds=SHARE, optional=True, inputs=inputs, resamples=RESAMPLES)
    for place, name in enumerate(NAMES):
        note = _note(min(sizes[sizes > 0], default=0))
        yield of_scored(name=name, kernel=partial(curves.mean, place), note=note)
        for index, label in enumerate(table.labels):
            note = _note(min(sizes[index], len(gold) - sizes[index]))
            yield of_scored(name=f"per_class.{label}.{name}", kernel=partial(curves.of, place, index), note=note)


class _Curves:
    """The areas of all labels. Those of the last block of weights are kept: it is given to one kernel after another."""

    def __init__(self, table: PredictionTable) -> None:
        rows = np.flatnonzero(table.has_probabilities)
        gold, probabilities = table.gold[rows], table.kept_probabilities[rows]
        labels = range(len(table.labels))
        self._kernels = [on_rows(rows, ranked(gold == label, probabilities[:, label])) for label in labels]
        self._last: tuple[Weights, Values] | None = None

    def of(self, place: int, label: int, weights: Weights) -> Values:
        """Return an area of one label."""
        areas: Values = self._areas(weights)[label, :, place]
        return areas

    def mean(self, place: int, weights: Weights) -> Values:
        """Return the mean over the labels that have a value."""
        areas = self._areas(weights)[:, :, place]
        return divide(np.nansum(areas, axis=0), np.sum(~np.isnan(areas), axis=0))

    def _areas(self, weights: Weights) -> Values:
        """All areas: labels x resamples x metrics."""
        if self._last is None or self._last[0] is not weights:
            self._last = weights, np.stack([kernel(weights) for kernel in self._kernels])
        return self._last[1]


def ranked(right: Mask, probabilities: Values) -> Kernel:
    """Return the kernel of both areas (resamples x 2) for the rows of one label against the others; NaN without any."""
    order = np.argsort(-probabilities, kind="stable")
    ends = np.flatnonzero(np.diff(probabilities[order], append=-1.0))
    is_right = right[order].astype(np.float64)

    def kernel(weights: Weights) -> Values:
        in_order = weights[:, order]
        above = np.cumsum(in_order, axis=1)[:, ends]
        hits = np.cumsum(in_order * is_right, axis=1)[:, ends]
        others, added = above - hits, np.diff(hits, axis=1, prepend=0.0)
        all_hits, all_others = hits[:, -1:].sum(axis=1), others[:, -1:].sum(axis=1)
        roc = (np.diff(others, axis=1, prepend=0.0) * (hits - added / 2)).sum(axis=1)
        precision = (added * np.nan_to_num(divide(hits, above))).sum(axis=1)
        return np.column_stack([divide(roc, all_hits * all_others), divide(precision, all_hits)])

    return kernel


def _note(rarest: int) -> str:
    is_rare = 0 < rarest < MIN_LABEL_SIZE
    return f"n={rarest} of the rarest class: the interval is approximate" if is_rare else ""
