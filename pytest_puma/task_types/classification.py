"""Classification: one of the valid labels is right, all others are equally wrong."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_puma.task_types.kind import TaskKind


class Classification(TaskKind):
    """Answers are labels."""

    name = "classification"
    primary_metric = "f1_macro"
    decisive_metric = "accuracy"
    form = "labels"
    refusal = "not_a_label"
    naive_baselines = ("majority", "guess", "tfidf")

    def gold(self, text: str, labels: Sequence[str]) -> str | None:
        """Return the label with this spelling, else the first that equals the text in any case."""
        return text if text in labels else self.bare(text, labels)

    def valid(self, answer: str, labels: Sequence[str]) -> bool:
        """Return True for one of the labels, with exactly this spelling."""
        return answer in labels

    def expected(self, labels: Sequence[str]) -> str:
        """Return the labels."""
        return f"one of {', '.join(labels)}"
