"""Trials of one question are one observation: numbers of rows are averaged for each question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_puma.core import Prediction
from pytest_puma.stats.arrays import Mask, Values


def questions_of(predictions: Sequence[Prediction]) -> tuple[int, ...]:
    """The question of each row, numbered from 0; empty if every sample has a single trial."""
    numbers: dict[str, int] = {}
    questions = tuple(numbers.setdefault(prediction.sample_id, len(numbers)) for prediction in predictions)
    return questions if len(numbers) < len(questions) else ()


def per_question(values: Values, questions: Sequence[int]) -> Values:
    """The mean of the rows of each question; the values themselves if every question has a single row."""
    if not questions:
        return values
    _, places = np.unique(np.array(questions, dtype=np.intp), return_inverse=True)
    return np.asarray(np.bincount(places, weights=values) / np.bincount(places), dtype=np.float64)


def count_questions(rows: Mask, questions: Sequence[int]) -> int:
    """The number of questions of which the mask has a row."""
    return int(rows.sum()) if not questions else len(set(np.array(questions)[rows].tolist()))
