"""Regression: any finite number is a valid answer, and its distance from the gold number is its loss."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import median

from pytest_puma.task_types.kind import TaskKind


def number_text(value: float) -> str:
    """Return a finite number as a person writes it: `3`, not `3.0`; `0.5` stays."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


class Regression(TaskKind):
    """Answers are numbers."""

    name = "regression"
    primary_metric = "mae"
    decisive_metric = "mae"
    form = "numbers"
    refusal = "not_a_number"
    naive_baselines = ("mean", "median", "tfidf")

    def gold(self, text: str, labels: Sequence[str]) -> str | None:
        """Return a finite number as a person writes it."""
        return number_text(float(text)) if self.valid(text, labels) else None

    def valid(self, answer: str, labels: Sequence[str]) -> bool:  # noqa: ARG002 - any number is valid
        """Return True for a finite number."""
        try:
            return math.isfinite(float(answer))
        except ValueError:
            return False

    def expected(self, labels: Sequence[str]) -> str:  # noqa: ARG002 - any number is valid
        """Return the only condition."""
        return "a finite number"

    def loss(self, answer: str, golds: Sequence[str]) -> float:
        """Return the absolute error, relative to the nearest gold number."""
        return min(abs(float(answer) - float(gold)) for gold in golds)

    def bare(self, text: str, labels: Sequence[str]) -> str | None:  # noqa: ARG002 - any number is valid
        """Return the text if it is a plain number."""
        return text if re.fullmatch(r"-?\d+(?:\.\d+)?", text) else None

    def choose(self, probabilities: Mapping[str, float]) -> str:
        """Return the lower median of the distribution: its expected absolute error is the smallest.

        Source: T. Gneiting, "Making and evaluating point forecasts", Journal of the American Statistical Association
        106 (2011).
        """
        ascending = sorted(probabilities, key=float)
        reached = accumulate(probabilities[value] for value in ascending)
        return next(value for value, total in zip(ascending, reached, strict=True) if total >= 1 / 2)

    def vote(self, answers: Sequence[str], labels: Sequence[str], tie: int) -> tuple[str, dict[str, float] | None]:  # noqa: ARG002
        """Return the median; of an even number of answers, the mean of the two in the middle. There are no shares."""
        return number_text(median(float(answer) for answer in answers)), None
