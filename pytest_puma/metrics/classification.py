"""How often the label is right: accuracy, and precision, recall and F1 by class and over classes.

Where the labels are steps of a scale, `within_one` counts the neighbours of the right one as well; `ordinal` has more.

Definitions are scikit-learn's, over the labels that occur. A prediction without an answer is a wrong
answer of no class: it costs its gold class recall, and no class precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Prediction
from pytest_puma.metrics import ordinal
from pytest_puma.metrics.statistic import FEW, SHARE, Statistic, divide, given, proportion, rarer, ratio
from pytest_puma.metrics.table import Table, unread_note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_puma.metrics.statistic import Values, Weights

NO_ANSWER = "no answer"
#: Of fewer samples of a class, the intervals of means over classes hold too little.
RARE = 10


def statistics(table: Table) -> Iterator[Statistic]:
    """Over all classes first, then class by class."""
    by_class, rare, hits = _ByClass(table), _rare(table), table.gold == table.answer
    answer, hit = (given(column.astype(np.float64), table.everything) for column in (table.answer, hits))
    of_all = partial(Statistic, n=len(table), bounds=SHARE, steady=True)
    over_classes = partial(of_all, note=rare, odd=None if rare else rarer(hits))
    yield over_classes(name="f1_macro", kernel=by_class.f1_macro, inputs=answer)
    yield of_all(name="f1_weighted", kernel=by_class.f1_weighted, odd=rarer(hits), inputs=answer)
    yield proportion("accuracy", hits, table.everything, better="high", test="mcnemar")
    yield over_classes(name="recall_macro", kernel=by_class.recall_macro, inputs=hit)
    if table.ordered:
        near = table.read & (np.abs(table.gold - table.answer) <= 1)
        yield proportion("within_one", near, table.everything, better="high")
        yield from ordinal.statistics(
            table.gold.astype(float), table.answer.astype(float), table.read, unread_note(table)
        )
    for index, label in enumerate(table.labels):
        yield from _of_class(f"per_class.{label}", table.gold == index, table.answer == index)


def _rare(table: Table) -> str:
    golds = np.bincount(table.gold, minlength=len(table.labels))
    rarest = min(golds[golds > 0], default=RARE)
    few = len(table) >= FEW and rarest < RARE
    return f"n={rarest} of the rarest class: the interval is approximate" if few else ""


def _of_class(name: str, is_gold: NDArray[np.bool_], is_answer: NDArray[np.bool_]) -> Iterator[Statistic]:
    hits = is_gold & is_answer
    yield proportion(f"{name}.precision", hits, is_answer, better="high")
    yield proportion(f"{name}.recall", hits, is_gold, better="high")
    f1 = ratio(np.where(hits, 2.0, 0.0), np.add(is_gold, is_answer, dtype=np.float64))
    counted = is_gold | is_answer
    inputs = given(is_answer.astype(np.float64), counted)
    n, odd = int(counted.sum()), rarer(hits[counted])
    yield Statistic(name=f"{name}.f1", kernel=f1, n=n, bounds=SHARE, odd=odd, inputs=inputs, steady=True)


class _ByClass:
    """F1 of every class at once, as 2 * hits / (golds + answers): the harmonic mean of precision and recall."""

    def __init__(self, table: Table) -> None:
        classes = np.arange(len(table.labels))
        is_gold, is_answer = table.gold[:, None] == classes, table.answer[:, None] == classes
        self._golds = is_gold.astype(np.float64)
        self._twice_hits = 2.0 * (is_gold & is_answer)
        self._golds_and_answers = self._golds + is_answer

    def _f1(self, weights: Weights) -> NDArray[np.float64]:
        return divide(weights @ self._twice_hits, weights @ self._golds_and_answers)

    def f1_macro(self, weights: Weights) -> Values:
        """The mean over the classes that occur, as gold or as answer."""
        f1 = self._f1(weights)
        return divide(np.nansum(f1, axis=1), np.sum(~np.isnan(f1), axis=1))

    def recall_macro(self, weights: Weights) -> Values:
        """The mean recall of the classes that occur as gold, also known as balanced accuracy."""
        recall = divide(weights @ self._twice_hits / 2, weights @ self._golds)
        return divide(np.nansum(recall, axis=1), np.sum(~np.isnan(recall), axis=1))

    def f1_weighted(self, weights: Weights) -> Values:
        """The mean over classes, each with its number of golds."""
        golds = weights @ self._golds
        return divide(np.nansum(self._f1(weights) * golds, axis=1), golds.sum(axis=1))


def confusion_matrix(predictions: Sequence[Prediction], labels: Sequence[str]) -> dict[str, dict[str, int]]:
    """How often each gold label (outer key) got each answer (inner key); a last column counts no answer."""
    matrix = {gold: dict.fromkeys((*labels, NO_ANSWER), 0) for gold in labels}
    for prediction in predictions:
        answer = prediction.answer
        matrix[prediction.gold][NO_ANSWER if answer is None or answer not in labels else answer] += 1
    return matrix
