"""Completion: any text is an answer, and metrics of the scenario score it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from pytest_puma.task_types.kind import TaskKind


class Completion(TaskKind):
    """Answers are texts. Their loss is that of the scenario's primary metric."""

    name = "completion"
    form = "texts"
    primary_metric = ""
    decisive_metric = ""
    scored = True
    refusal = "not_a_text"
    naive_baselines = ("empty", "echo", "majority")
    strategies = ("zero_shot", "few_shot_3")

    def gold(self, text: str, labels: Sequence[str]) -> str | None:  # noqa: ARG002 - there are no labels
        """Return the text as it is; an empty one stands for a sample without a ground truth."""
        return text

    def valid(self, answer: str, labels: Sequence[str]) -> bool:  # noqa: ARG002 - there are no labels
        """Return True for any text that is not empty."""
        return bool(answer)

    def expected(self, labels: Sequence[str]) -> str:  # noqa: ARG002 - there are no labels
        """Return the only condition."""
        return "a text that is not empty"

    def loss(self, answer: str, golds: Sequence[str]) -> NoReturn:
        """Raise an error: metrics score a text."""
        raise NotImplementedError

    def bare(self, text: str, labels: Sequence[str]) -> str | None:  # noqa: ARG002 - there are no labels
        """Return the text, unless it is empty."""
        return text or None

    def vote(self, answers: Sequence[str], labels: Sequence[str], tie: int) -> tuple[str, dict[str, float] | None]:  # noqa: ARG002
        """Return the most frequent text, a random one of several; there are no shares, as other texts are possible."""
        return super().vote(answers, (), tie)
