"""Accuracy, and precision, recall and F1 by class and over classes.

If the labels are steps of a scale, `within_one` also accepts the neighbours of the right label; `agreement` has more.

Definitions are those of scikit-learn, over the labels that occur. A parse failure is a wrong answer of no class: it
lowers the recall of its gold class, and the precision of no class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from pytest_puma.core import Prediction
from pytest_puma.metrics.kernels import agreement
from pytest_puma.metrics.statistic import (
    MIN_ROWS,
    SHARE,
    ComparisonBasis,
    IntervalBasis,
    Statistic,
    divide,
    masked,
    proportion,
    rarer,
    ratio,
)
from pytest_puma.metrics.table import PredictionTable, parse_failure_note
from pytest_puma.stats.arrays import Mask, Values, Weights

NO_ANSWER = "no answer"
#: With fewer samples of a class, the coverage of intervals of means over classes is too low.
MIN_CLASS_SIZE = 10


def statistics(table: PredictionTable) -> Iterator[Statistic]:
    """Yield the statistics over all classes first, then those of each class."""
    by_class, note, rare = _ByClass(table), _rare_class_note(table), rarer(table.right)
    answer, hit = (masked(column.astype(np.float64), table.everything) for column in (table.answer, table.right))
    of_all = partial(Statistic, n=len(table), bounds=SHARE)
    basis, weighted = (IntervalBasis(rarer=count, sequential=True) for count in (None if note else rare, rare))
    yield of_all(name="f1_macro", kernel=by_class.f1_macro, note=note, interval=basis, inputs=answer)
    yield of_all(name="f1_weighted", kernel=by_class.f1_weighted, interval=weighted, inputs=answer)
    yield accuracy(table)
    yield of_all(name="recall_macro", kernel=by_class.recall_macro, note=note, interval=basis, inputs=hit)
    if table.ordered:
        near = table.parsed & (np.abs(table.gold - table.answer) <= 1)
        yield proportion("within_one", near, table.everything, better="high")
        gold, answers = table.gold.astype(float), table.answer.astype(float)
        yield from agreement(gold, answers, table.parsed, parse_failure_note(table))
    for index, label in enumerate(table.labels):
        yield from _of_class(f"per_class.{label}", table.gold == index, table.answer == index)


def accuracy(table: PredictionTable) -> Statistic:
    """Return the share of right answers."""
    return proportion(
        "accuracy", table.right, table.everything, better="high", comparison=ComparisonBasis(test="mcnemar")
    )


def _rare_class_note(table: PredictionTable) -> str:
    golds = np.bincount(table.gold, minlength=len(table.labels))
    rarest = min(golds[golds > 0], default=MIN_CLASS_SIZE)
    is_rare = len(table) >= MIN_ROWS and rarest < MIN_CLASS_SIZE
    return f"n={rarest} of the rarest class: the interval is approximate" if is_rare else ""


def _of_class(name: str, is_gold: Mask, is_answer: Mask) -> Iterator[Statistic]:
    hits = is_gold & is_answer
    yield proportion(f"{name}.precision", hits, is_answer, better="high")
    yield proportion(f"{name}.recall", hits, is_gold, better="high")
    f1 = ratio(np.where(hits, 2.0, 0.0), np.add(is_gold, is_answer, dtype=np.float64))
    counted = is_gold | is_answer
    inputs = masked(is_answer.astype(np.float64), counted)
    basis = IntervalBasis(rarer=rarer(hits[counted]), sequential=True)
    yield Statistic(name=f"{name}.f1", kernel=f1, n=int(counted.sum()), bounds=SHARE, inputs=inputs, interval=basis)


class _ByClass:
    """F1 of every class at once, as 2 * hits / (golds + answers): the harmonic mean of precision and recall."""

    def __init__(self, table: PredictionTable) -> None:
        classes = np.arange(len(table.labels))
        is_gold, is_answer = table.gold[:, None] == classes, table.answer[:, None] == classes
        self._golds = is_gold.astype(np.float64)
        self._twice_hits = 2.0 * (is_gold & is_answer)
        self._golds_and_answers = self._golds + is_answer

    def _f1(self, weights: Weights) -> Values:
        return divide(weights @ self._twice_hits, weights @ self._golds_and_answers)

    def f1_macro(self, weights: Weights) -> Values:
        """Return the mean over the classes that occur, as gold label or as answer."""
        f1 = self._f1(weights)
        return divide(np.nansum(f1, axis=1), np.sum(~np.isnan(f1), axis=1))

    def recall_macro(self, weights: Weights) -> Values:
        """Return the mean recall of the classes that occur as gold labels, also known as balanced accuracy."""
        recall = divide(weights @ self._twice_hits / 2, weights @ self._golds)
        return divide(np.nansum(recall, axis=1), np.sum(~np.isnan(recall), axis=1))

    def f1_weighted(self, weights: Weights) -> Values:
        """Return the mean over classes, weighted by the number of gold labels."""
        golds = weights @ self._golds
        return divide(np.nansum(self._f1(weights) * golds, axis=1), golds.sum(axis=1))


def confusion_matrix(predictions: Sequence[Prediction], labels: Sequence[str]) -> dict[str, Counter[str]]:
    """Return the count of each answer (inner key) that a gold label (outer key) has; others, and no answer, count 0."""
    matrix: dict[str, Counter[str]] = {gold: Counter() for gold in labels}
    for prediction in predictions:
        answer = prediction.answer
        matrix[prediction.gold][NO_ANSWER if answer is None or answer not in matrix else answer] += 1
    return matrix
