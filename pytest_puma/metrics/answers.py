"""Statistics of the answers: accuracy, precision, recall and F1 of labels; absolute and squared errors of numbers.

If the labels are steps of a scale, `within_one` also accepts the neighbours of the right label; `agreement` has more.
Definitions are those of scikit-learn, over the labels that occur. A parse failure is a wrong answer of no class: it
lowers the recall of its gold class, and the precision of no class.

Errors are over the parsed answers, as a parse failure has none. If more than one answer in twenty is a parse failure,
each measure has a note that it is unreliable: a model could look good by answering the easy samples only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from pytest_puma.core import Prediction
from pytest_puma.metrics import statistic
from pytest_puma.metrics.distinct import DistinctRows
from pytest_puma.metrics.kernels import agreement, rebuilt
from pytest_puma.metrics.statistic import (
    MIN_ROWS,
    SHARE,
    ComparisonBasis,
    IntervalBasis,
    Kernel,
    Statistic,
    masked,
    rarer,
)
from pytest_puma.metrics.table import PredictionTable, parse_failure_note
from pytest_puma.stats.arrays import Mask, Values, Weights

NO_ANSWER = "no answer"
#: With fewer samples of a class, the coverage of intervals of means over classes is too low.
MIN_CLASS_SIZE = 10
#: Ranges of gold values, ends included.
BINS = {"1-3": (1.0, 3.0), "5-8": (5.0, 8.0), "13-21": (13.0, 21.0), "34+": (34.0, np.inf)}


def of_labels(table: PredictionTable) -> Iterator[Statistic]:
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
        yield statistic.proportion("within_one", near, table.everything, better="high")
        gold, answers = table.gold.astype(float), table.answer.astype(float)
        yield from agreement(gold, answers, table.parsed, parse_failure_note(table), by_class.pairs)
    for index, label in enumerate(table.labels):
        yield from _of_class(f"per_class.{label}", table.gold == index, table.answer == index, by_class.f1_of(index))


def accuracy(table: PredictionTable) -> Statistic:
    """Return the share of right answers."""
    return statistic.proportion(
        "accuracy", table.right, table.everything, better="high", comparison=ComparisonBasis(test="mcnemar")
    )


def _rare_class_note(table: PredictionTable) -> str:
    golds = np.bincount(table.gold, minlength=len(table.labels))
    rarest = min(golds[golds > 0], default=MIN_CLASS_SIZE)
    is_rare = len(table) >= MIN_ROWS and rarest < MIN_CLASS_SIZE
    return f"n={rarest} of the rarest class: the interval is approximate" if is_rare else ""


def _of_class(name: str, is_gold: Mask, is_answer: Mask, f1: Kernel) -> Iterator[Statistic]:
    hits = is_gold & is_answer
    yield statistic.proportion(f"{name}.precision", hits, is_answer, better="high")
    yield statistic.proportion(f"{name}.recall", hits, is_gold, better="high")
    counted = is_gold | is_answer
    inputs = masked(is_answer.astype(np.float64), counted)
    basis = IntervalBasis(rarer=rarer(hits[counted]), sequential=True)
    yield Statistic(name=f"{name}.f1", kernel=f1, n=int(counted.sum()), bounds=SHARE, inputs=inputs, interval=basis)


class _ByClass:
    """F1 of every class at once, as 2 * hits / (golds + answers): the harmonic mean of precision and recall.

    `pairs`: the positions of gold label and answer.
    """

    def __init__(self, table: PredictionTable) -> None:
        self.pairs = DistinctRows(table.gold, table.answer)
        gold, answer = self.pairs.columns
        classes = np.arange(len(table.labels))
        is_gold, is_answer = gold[:, None] == classes, answer[:, None] == classes
        self._golds = is_gold.astype(np.float64)
        self._twice_hits = 2.0 * (is_gold & is_answer)
        self._golds_and_answers = self._golds + is_answer

    def f1_of(self, label: int) -> Kernel:
        """Return the kernel of the F1 of the class of this index."""
        f1 = statistic.ratio(self._twice_hits[:, label], self._golds_and_answers[:, label])
        return lambda weights: f1(self.pairs.counts(weights))

    def f1_macro(self, weights: Weights) -> Values:
        """Return the mean over the classes that occur, as gold label or as answer."""
        f1 = self._f1(self.pairs.counts(weights))
        return statistic.divide(np.nansum(f1, axis=1), np.sum(~np.isnan(f1), axis=1))

    def recall_macro(self, weights: Weights) -> Values:
        """Return the mean recall of the classes that occur as gold labels, also known as balanced accuracy."""
        counts = self.pairs.counts(weights)
        recall = statistic.divide(counts @ self._twice_hits / 2, counts @ self._golds)
        return statistic.divide(np.nansum(recall, axis=1), np.sum(~np.isnan(recall), axis=1))

    def f1_weighted(self, weights: Weights) -> Values:
        """Return the mean over classes, weighted by the number of gold labels."""
        counts = self.pairs.counts(weights)
        golds = counts @ self._golds
        return statistic.divide(np.nansum(self._f1(counts) * golds, axis=1), golds.sum(axis=1))

    def _f1(self, counts: Weights) -> Values:
        return statistic.divide(counts @ self._twice_hits, counts @ self._golds_and_answers)


def confusion_matrix(predictions: Sequence[Prediction], labels: Sequence[str]) -> dict[str, Counter[str]]:
    """Return the count of each answer (inner key) that a gold label (outer key) has; others, and no answer, count 0."""
    matrix: dict[str, Counter[str]] = {gold: Counter() for gold in labels}
    for prediction in predictions:
        answer = prediction.answer
        matrix[prediction.gold][NO_ANSWER if answer is None or answer not in matrix else answer] += 1
    return matrix


def of_numbers(table: PredictionTable) -> Iterator[Statistic]:
    """Yield the statistics over all parsed answers first, then by the size of the gold value."""
    gold, parsed, note = table.gold_value, table.parsed, parse_failure_note(table)
    errors = np.abs(table.answer_value - gold)
    inputs, chance = masked(errors, parsed), _error_by_chance(gold)
    of_mean = partial(statistic.mean, better="low", unobserved=chance, note=note)
    of_errors = ComparisonBasis(rebuild="mean", test="permutation")
    yield of_mean("mae", errors, parsed, comparison=of_errors)
    squares = _of_squares(errors, parsed, chance)
    yield rebuilt("mdae", "median", inputs, better="low", note=note)
    yield rebuilt("rmse", "root_mean_square", inputs, better="low", note=note, interval=squares)
    interval = IntervalBasis(terms=errors[parsed], unobserved=1.0)
    inputs = np.column_stack([inputs, gold])
    yield rebuilt("standardised_accuracy", "standardised", inputs, note=note, interval=interval)
    yield from agreement(gold, table.answer_value, parsed, note)
    among = table.has_probabilities
    expected, kept = (
        np.abs(shares @ table.label_values - gold) for shares in (table.probabilities, table.kept_probabilities)
    )
    yield of_mean("mae_expected", expected, among, optional=True, inputs=masked(kept, among))
    by_bin = ComparisonBasis(rebuild="mean")
    for name, rows in _bins(gold).items():
        yield of_mean(f"mae_by_bin.{name}", errors, parsed & rows, comparison=by_bin)


def _of_squares(errors: Values, parsed: Mask, chance: float) -> IntervalBasis:
    """The interval of the mean square; squares are relative to the greatest one, which may have 200 digits."""
    kept = np.where(parsed, errors, 0.0)
    unit = float(np.max(kept, initial=0.0)) or 1.0
    squares, unobserved = np.square(kept / unit), (chance / unit) ** 2
    error = statistic.standard_error(squares, parsed)
    return IntervalBasis(error=error, terms=squares[parsed], root=True, unobserved=unobserved)


def _error_by_chance(gold: Values) -> float:
    """The mean error of guessing the gold value of a random other row."""
    n, ascending = len(gold), np.sort(gold)
    if n < 2:  # noqa: PLR2004 - there is no other row
        return 0.0
    ranks = np.arange(n)
    return float(2 * np.sum((2 * ranks - n + 1) * (ascending / (n * (n - 1)))))


def _bins(gold: Values) -> dict[str, Mask]:
    """The mask of each range of gold values (ends included), and that of all other rows."""
    bins = {name: (low <= gold) & (gold <= high) for name, (low, high) in BINS.items()}
    return {**bins, "other": ~np.any(list(bins.values()), axis=0)}
