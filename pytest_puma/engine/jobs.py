"""Jobs, plans and the owners of rows: what the engine and the scheduler exchange; and the jobs that wait."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pytest_puma.core import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A request's demand on the KV cache: hold `tokens`, then either generate or branch out.

    A generating job may grow by `room` tokens. A scored job has `tails`, the tokens of each
    continuation; all of them but the last one are computed, and each of these needs logits. A guided job has a `twin`
    of the same key: the second prompt, which grows by the same tokens.
    """

    key: int
    tokens: array[int]
    room: int = 0
    tails: tuple[tuple[int, ...], ...] = ()
    twin: Job | None = None

    @property
    def kv_slots(self) -> int:
        """KV slots that it and its twin need when they share none."""
        own = len(self.tokens) + self.room + sum(len(tail) - 1 for tail in self.tails)
        return own + (self.twin.kv_slots if self.twin else 0)

    def continues(self, tokens: array[int]) -> bool:
        """Whether these tokens are a proper prefix of its own."""
        return len(tokens) < len(self.tokens) and self.tokens[: len(tokens)] == tokens

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
class RowOwner:
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


class Waiting:
    """Jobs in lexicographic order of their tokens, so that jobs with a shared prefix are neighbours."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def add(self, jobs: Sequence[Job]) -> None:
        """Put each job in its place."""
        if len(jobs) > len(self._jobs):
            self._jobs = sorted([*self._jobs, *jobs])
            return
        for job in jobs:
            insort(self._jobs, job)

    def first(self, path: Sequence[array[int]]) -> Job:
        """The first job below the last prefix of the path that has one, else the first job of all.

        So a late job does not drop a prefix that other jobs still wait for.
        """
        for prefix in reversed(path):
            index = bisect_left(self._jobs, Job(key=sys.maxsize, tokens=prefix))
            if index < len(self._jobs) and self._jobs[index].continues(prefix):
                return self._jobs[index]
        return self._jobs[0]

    def after(self, job: Job) -> Iterator[Job]:
        """The jobs that are served after this one, in order."""
        return (self._jobs[index] for index in range(bisect_left(self._jobs, job) + 1, len(self._jobs)))

    def before(self, job: Job) -> Iterator[Job]:
        """The jobs before this one, the nearest first."""
        return (self._jobs[index] for index in range(bisect_left(self._jobs, job) - 1, -1, -1))

    def remove(self, job: Job) -> None:
        """Take the job out of the queue."""
        del self._jobs[bisect_left(self._jobs, job)]
