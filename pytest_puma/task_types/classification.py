"""Classification: one of the valid labels is right, all others are equally wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pytest_puma.task_types.kind import TaskKind


class Classification(TaskKind):
    """Answers are labels."""

    name = "classification"
    primary_metric = "f1_macro"
    decisive_metric = "accuracy"
    form = "labels"
    graded = False
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

    def loss(self, answer: str, golds: Sequence[str]) -> float:
        """Return 0 or 1."""
        return 0.0 if answer in golds else 1.0

    def bare(self, text: str, labels: Sequence[str]) -> str | None:
        """Return the label that equals the text, in any case."""
        folded = text.casefold()
        return next((label for label in labels if label.casefold() == folded), None)

    def choose(self, probabilities: Mapping[str, float]) -> str:
        """Return the most probable label, the first one of several."""
        return max(probabilities, key=probabilities.__getitem__)

    def vote(self, answers: Sequence[str], labels: Sequence[str], tie: int) -> tuple[str, dict[str, float] | None]:
        """Return the most frequent label, a random one of several so that no label is favoured, and the shares."""
        return shares_of(answers, labels, tie)


def shares_of(answers: Sequence[str], labels: Sequence[str], tie: int) -> tuple[str, dict[str, float]]:
    """Return the most frequent label, with `tie` as the seed for a choice among several, and the share of each."""
    counts = Counter(answers)
    shares = {label: counts[label] / len(answers) for label in labels}
    largest = max(shares.values())
    tied = [label for label, share in shares.items() if share == largest]
    return tied[tie % len(tied)], shares
