"""The interface of a kind of task: everything that differs between kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar


class TaskKind(ABC):
    """One kind of task, a stateless object. `labels` are always the scenario's `valid_labels()`."""

    #: The `task_type` of its scenarios.
    name: ClassVar[str]
    #: The metric that reports put first.
    primary_metric: ClassVar[str]
    #: The metric whose change decides whether answers became worse.
    decisive_metric: ClassVar[str]
    #: True if `valid_labels()` are all valid answers; False if they are only values to choose from.
    closed: ClassVar[bool]
    #: True if an answer can be more or less wrong, False if it is right or wrong.
    graded: ClassVar[bool]
    #: The cause of a parse failure if the parser returns an invalid answer.
    refusal: ClassVar[str]
    #: Naive baselines that can answer such a task.
    naive_baselines: ClassVar[tuple[str, ...]]

    @abstractmethod
    def valid(self, answer: str, labels: Sequence[str]) -> bool:
        """Return True if metrics can count this answer."""

    @abstractmethod
    def expected(self, labels: Sequence[str]) -> str:
        """Return a description of the valid answers for an error message."""

    @abstractmethod
    def loss(self, answer: str, gold: str) -> float:
        """Return the loss of a valid answer; 0 is right."""

    @abstractmethod
    def bare(self, text: str, labels: Sequence[str]) -> str | None:
        """Return the answer if the text is nothing but an answer, else None."""

    @abstractmethod
    def choose(self, probabilities: Mapping[str, float]) -> str:
        """Return the label with the smallest expected loss."""

    @abstractmethod
    def vote(self, answers: Sequence[str], labels: Sequence[str], tie: int) -> tuple[str, dict[str, float] | None]:
        """Return the common answer of several, and label shares if these are probabilities; `tie` is a seed."""
