"""The charts of a cell as counts: confusion matrix, reliability, gold and answer of a regression, scores of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pytest_puma.codec.plain import plain
from pytest_puma.core import LOSS, Outcome, Prediction
from pytest_puma.metrics.answers import NO_ANSWER
from pytest_puma.report.page.encoding import rounded
from pytest_puma.task_types import TaskKind

#: Labels of a matrix that the viewer draws (`MAX_LABELS` there); of more it lists the most frequent confusions.
_WHOLE_MATRIX = 16
#: Rows of such a matrix: the page has 2 bytes for each of its cells.
_MAX_ROWS = 500
#: Bars of a distribution.
_BARS = 20
#: Significant digits of an edge: the others are noise.
_EDGE_DIGITS = 12


def confusion(outcome: Outcome) -> dict[str, Any] | None:
    """Return the matrix of a classification: a row for each gold label, a column for each answer, `no answer` last.

    Of more labels than a matrix shows, it has those that occur; of too many of them, those with the most wrong answers.
    """
    if not outcome.tables.confusion:
        return None
    gold, answers = list(outcome.tables.confusion), list(dict.fromkeys((*outcome.task.labels, NO_ANSWER)))
    if len(gold) > _WHOLE_MATRIX:
        gold = _most_confused(outcome.tables.confusion)
        occur = {answer for label in gold for answer, count in outcome.tables.confusion[label].items() if count}
        answers = [answer for answer in answers[:-1] if answer in occur] + answers[-1:]
    counts = [[outcome.tables.confusion[label].get(answer, 0) for answer in answers] for label in gold]
    return {"gold": gold, "answers": answers, "counts": counts}


def _most_confused(matrix: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The gold labels with the most wrong answers, in the order of the labels."""
    wrong = {
        label: sum(counts.values()) - counts.get(label, 0) for label, counts in matrix.items() if any(counts.values())
    }
    most = set(sorted(wrong, key=lambda label: -wrong[label])[:_MAX_ROWS])
    return [label for label in wrong if label in most]


def calibration(outcome: Outcome) -> dict[str, Any] | None:
    """Return the bins behind the calibration error."""
    if not outcome.tables.calibration:
        return None
    error = outcome.measures.get("ece")
    return {"bins": plain(outcome.tables.calibration), "ece": None if error is None else plain(error.value)}


def points(kind: TaskKind, predictions: Iterable[Prediction]) -> dict[str, Any] | None:
    """Return the pairs of gold and answer of a regression, and how often each occurs."""
    if kind.form != "numbers":
        return None
    counts = Counter(
        (float(prediction.gold), float(prediction.answer))
        for prediction in predictions
        if prediction.answer is not None and prediction.loss is not None
    )
    pairs = sorted(counts)
    return {
        "gold": [gold for gold, _ in pairs],
        "answer": [answer for _, answer in pairs],
        "n": [counts[pair] for pair in pairs],
    }


def scores(predictions: Sequence[Prediction]) -> dict[str, list[float | None]]:
    """Return the score of each prediction by metric, for the metrics whose scores are numbers."""
    names = dict.fromkeys(name for prediction in predictions for name in prediction.scores if name != LOSS)
    columns = {name: [prediction.scores.get(name) for prediction in predictions] for name in names}
    return {
        name: [None if score is None else float(score) for score in column if not isinstance(score, tuple)]
        for name, column in columns.items()
        if not any(isinstance(score, tuple) for score in column)
    }


def distributions(columns: dict[str, list[float | None]]) -> list[dict[str, Any]]:
    """Return a histogram of the scores of each metric that has any."""
    present = {name: [score for score in column if score is not None] for name, column in columns.items()}
    return [_histogram(name, column) for name, column in present.items() if column]


def _histogram(name: str, column: Sequence[float]) -> dict[str, Any]:
    """Bars from 0 to 1 where these bound the scores, else from the lowest to the highest one."""
    within = (0.0, 1.0) if min(column) >= 0 and max(column) <= 1 else None
    counts, edges = np.histogram(column, bins=_BARS, range=within)
    return {"metric": name, "edges": [rounded(edge, _EDGE_DIGITS) for edge in edges], "counts": counts.tolist()}
