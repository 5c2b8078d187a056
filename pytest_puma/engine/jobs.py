"""Jobs, plans and rows: what the engine and the scheduler exchange."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TypeAlias

from pytest_puma.core import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A request's demand on the KV cache: hold `tokens`, then either generate or branch out.

    A generating job may grow by `room` tokens. A scored job has `tails`, the tokens of each
    continuation; all of them but the last one are computed, and each of these needs logits.
    """

    key: int
    tokens: array[int]
    room: int = 0
    tails: tuple[tuple[int, ...], ...] = ()

    @property
    def kv_slots(self) -> int:
        """KV slots it needs when it shares none."""
        return len(self.tokens) + self.room + sum(len(tail) - 1 for tail in self.tails)

    def __lt__(self, other: Job) -> bool:
        """The order in which jobs are served."""
        return (self.tokens, self.key) < (other.tokens, other.key)


@dataclass(frozen=True, slots=True)
class Fork:
    """Let the empty sequence `target` continue from `source`."""

    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Drop:
    """Empty a sequence."""

    sequence: int


Operation: TypeAlias = Fork | Drop


@dataclass(frozen=True, slots=True)
class Row:
    """Owner of a row of logits: those after `position` of a job's tail, or (`tail` None) of the job."""

    key: int
    tail: int | None
    position: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Operations in order, then one batch. `admitted`: the jobs that begin with it."""

    operations: list[Operation]
    steps: list[Step]
    admitted: list[int]
