"""The interface of a kind of task: everything that differs between kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, TypeAlias

#: Labels and choices are right or wrong; a choice is one of those that its sample presents.
Form: TypeAlias = Literal["labels", "numbers", "choices", "texts"]


class TaskKind(ABC):
    """One kind of task, a stateless object. `labels`: the scenario's `valid_labels()`, or the choices of a sample.

    By default an answer is right or wrong.
    """

    #: The `task_type` of its scenarios.
    name: ClassVar[str]
    #: The form of an answer.
    form: ClassVar[Form]
    #: The metric that reports put first; empty for the first of the scenario's `scores`.
    primary_metric: ClassVar[str]
    #: The metric whose change decides whether answers became worse; empty for the primary metric.
    decisive_metric: ClassVar[str]
    #: True if the loss of an answer follows from its score by the primary metric, so that `loss` is not used.
    scored: ClassVar[bool] = False
    #: The cause of a parse failure if the parser returns an invalid answer.
    refusal: ClassVar[str]
    #: Naive baselines that can answer such a task.
    naive_baselines: ClassVar[tuple[str, ...]]
    #: Strategies of a benchmark that names none.
    strategies: ClassVar[tuple[str, ...]] = ("zero_shot", "few_shot_3", "contextual_anchoring", "option_scoring")

    @property
    def closed(self) -> bool:
        """True if `valid_labels()` are all valid answers; False if they are only values to choose from."""
        return self.form == "labels"

    @property
    def graded(self) -> bool:
        """True if an answer can be more or less wrong, as a number can; the scores of texts are another matter."""
        return self.form == "numbers"

    @abstractmethod
    def gold(self, text: str, labels: Sequence[str]) -> str | None:
        """Return a gold answer in its standard spelling; None if it is invalid."""

    def valid(self, answer: str, labels: Sequence[str]) -> bool:
        """Return True if metrics can count this answer: a label with exactly this spelling."""
        return answer in labels

    def expected(self, labels: Sequence[str]) -> str:
        """Return a description of the valid answers for an error message."""
        return f"one of {', '.join(labels)}"

    def loss(self, answer: str, golds: Sequence[str]) -> float:
        """Return the loss of a valid answer, given all right ones; 0 is right."""
        return 0.0 if answer in golds else 1.0

    def bare(self, text: str, labels: Sequence[str]) -> str | None:
        """Return the answer if the text is nothing but an answer, else None: the label that equals it, in any case."""
        folded = text.casefold()
        return next((label for label in labels if label.casefold() == folded), None)

    def choose(self, probabilities: Mapping[str, float]) -> str:
        """Return the label with the smallest expected loss: the most probable one, the first of several."""
        return max(probabilities, key=probabilities.__getitem__)

    def vote(self, answers: Sequence[str], labels: Sequence[str], tie: int) -> tuple[str, dict[str, float] | None]:
        """Return the common answer of several, and label shares if these are probabilities.

        It is the most frequent one, a random one of several so that no label is favoured; `tie` is the seed.
        """
        counts = Counter(answers)
        shares = {label: counts[label] / len(answers) for label in labels or counts}
        largest = max(shares.values())
        tied = [label for label, share in shares.items() if share == largest]
        return tied[tie % len(tied)], shares if labels else None
