"""Classification and multiple choice: one of the listed answers is right, all others are equally wrong."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_puma.task_types.kind import TaskKind


class Classification(TaskKind):
    """Answers are labels."""

    name = "classification"
    form = "labels"
    primary_metric = "f1_macro"
    decisive_metric = "accuracy"
    refusal = "not_a_label"
    naive_baselines = ("majority", "guess", "tfidf")

    def gold(self, text: str, labels: Sequence[str]) -> str | None:
        """Return the label with this spelling, else the first that equals the text in any case."""
        return text if text in labels else self.bare(text, labels)


class MultipleChoice(TaskKind):
    """Answers are the texts of choices, which differ from sample to sample; several may be right."""

    name = "choice"
    form = "choices"
    primary_metric = "accuracy"
    decisive_metric = "accuracy"
    refusal = "not_a_choice"
    naive_baselines = ("first", "longest", "guess", "tfidf")
    strategies = ("zero_shot", "option_scoring", "cloze_scoring")

    def gold(self, text: str, labels: Sequence[str]) -> str | None:  # noqa: ARG002 - the scenario has no labels
        """Return the text, unless it is empty."""
        return text or None

    def valid(self, answer: str, labels: Sequence[str]) -> bool:
        """Return True for one of the choices, or for any text if these are unknown."""
        return not labels or answer in labels

    def expected(self, labels: Sequence[str]) -> str:
        """Return the choices."""
        return super().expected(labels) if labels else "one of the choices"
