"""Choice: one of the choices that a sample presents is right, or several are; all others are equally wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_puma.task_types.classification import shares_of
from pytest_puma.task_types.kind import TaskKind


class Choice(TaskKind):
    """Answers are the texts of choices, which differ from sample to sample."""

    name = "choice"
    form = "choices"
    primary_metric = "accuracy"
    decisive_metric = "accuracy"
    graded = False
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
        return f"one of {', '.join(labels)}" if labels else "one of the choices"

    def loss(self, answer: str, golds: Sequence[str]) -> float:
        """Return 0 or 1."""
        return 0.0 if answer in golds else 1.0

    def bare(self, text: str, labels: Sequence[str]) -> str | None:
        """Return the choice that equals the text, in any case."""
        return next((label for label in labels if label.casefold() == text.casefold()), None)

    def choose(self, probabilities: Mapping[str, float]) -> str:
        """Return the most probable choice, the first one of several."""
        return max(probabilities, key=probabilities.__getitem__)

    def vote(self, answers: Sequence[str], labels: Sequence[str], tie: int) -> tuple[str, dict[str, float] | None]:
        """Return the most frequent choice, a random one of several so that no place is favoured, and the shares."""
        return shares_of(answers, labels, tie)
