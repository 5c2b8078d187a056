"""How well probabilities rank: the area under the ROC curve, and average precision, of one label against all others.

Definitions are those of scikit-learn: equal probabilities share a threshold. A macro value is the mean over the labels
that occur; of two labels, `roc_auc` is that of either one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from pytest_puma.metrics.statistic import SHARE, Kernel, Statistic, divide, on_rows
from pytest_puma.metrics.table import PredictionTable
from pytest_puma.stats.arrays import Mask, Values, Weights

#: With fewer samples of a label, or of all others, the coverage of the intervals is too low.
MIN_LABEL_SIZE = 10

#: From the weights of right and of other rows above each threshold (resamples x thresholds) to the value.
_Area: TypeAlias = Callable[[Values, Values], Values]


def of_labels(table: PredictionTable) -> Iterator[Statistic]:
    """Yield both metrics over all labels, then of each label; they need probabilities."""
    scored = table.has_probabilities
    rows, n = np.flatnonzero(scored), int(scored.sum())
    gold, probabilities = table.gold[rows], table.kept_probabilities[rows]
    inputs = np.where(scored[:, None], np.column_stack([table.gold, table.kept_probabilities]), np.nan)
    of_scored = partial(Statistic, n=n, bounds=SHARE, optional=True, inputs=inputs)
    sizes = np.bincount(gold, minlength=len(table.labels))
    for name, area in (("roc_auc", roc_area), ("average_precision", precision_area)):
        kernels = [
            on_rows(rows, ranked(gold == index, probabilities[:, index], area)) for index in range(len(table.labels))
        ]
        yield of_scored(name=name, kernel=partial(_mean, kernels), note=_note(min(sizes[sizes > 0], default=0)))
        for label, size, kernel in zip(table.labels, sizes, kernels, strict=True):
            yield of_scored(name=f"per_class.{label}.{name}", kernel=kernel, note=_note(min(size, n - size)))


def ranked(right: Mask, probabilities: Values, area: _Area) -> Kernel:
    """Return the kernel of the area under a curve of all thresholds, for the rows of one label against the others."""
    order = np.argsort(-probabilities, kind="stable")
    ends = np.flatnonzero(np.diff(probabilities[order], append=-1.0))
    is_right = right[order].astype(np.float64)

    def kernel(weights: Weights) -> Values:
        sorted_weights = weights[:, order]
        above = np.cumsum(sorted_weights, axis=1)[:, ends]
        hits = np.cumsum(sorted_weights * is_right, axis=1)[:, ends]
        return area(hits, above - hits)

    return kernel


def roc_area(hits: Values, others: Values) -> Values:
    """Return the probability that a right row has a higher probability than another one; a half if they are equal."""
    widths = np.diff(others, axis=1, prepend=0.0)
    heights = hits - np.diff(hits, axis=1, prepend=0.0) / 2
    return divide((widths * heights).sum(axis=1), hits[:, -1:].sum(axis=1) * others[:, -1:].sum(axis=1))


def precision_area(hits: Values, others: Values) -> Values:
    """Return the mean precision at the thresholds, weighted by the recall that each adds."""
    added = np.diff(hits, axis=1, prepend=0.0)
    precision = np.nan_to_num(divide(hits, hits + others))
    return divide((added * precision).sum(axis=1), hits[:, -1:].sum(axis=1))


def _mean(kernels: Sequence[Kernel], weights: Weights) -> Values:
    """The mean over the labels that have a value."""
    values = np.column_stack([kernel(weights) for kernel in kernels])
    return divide(np.nansum(values, axis=1), np.sum(~np.isnan(values), axis=1))


def _note(rarest: int) -> str:
    is_rare = 0 < rarest < MIN_LABEL_SIZE
    return f"n={rarest} of the rarest class: the interval is approximate" if is_rare else ""
