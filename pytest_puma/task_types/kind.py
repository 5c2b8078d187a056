"""The interface of a kind of task. Whatever differs between kinds is asked of one of these."""

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
    #: The cause of a parse failure if the parser returns something else than a valid answer.
    refusal: ClassVar[str]
    #: Naive baselines that can answer such a task.
    naive_baselines: ClassVar[tuple[str, ...]]

    @abstractmethod
    def valid(self, answer: str, labels: Sequence[str]) -> bool:
        """Whether a metric can count this answer."""

    @abstractmethod
    def expected(self, labels: Sequence[str]) -> str:
        """Valid answers, in the words of an error message."""

    @abstractmethod
    def loss(self, answer: str, gold: str) -> float:
        """How wrong a valid answer is: 0 is right."""

    @abstractmethod
    def bare(self, text: str, labels: Sequence[str]) -> str | None:
        """The answer in a text that is nothing but an answer; None for any other text."""

    @abstractmethod
    def choose(self, probabilities: Mapping[str, float]) -> str:
        """The label with the smallest expected loss."""

    @abstractmethod
    def vote(self, answers: Sequence[str], labels: Sequence[str], tie: int) -> tuple[str, dict[str, float] | None]:
        """The common answer of several, and the share of each label if shares are probabilities; `tie` is a seed."""
