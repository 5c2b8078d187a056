"""What the scheduler and the engine hand each other: jobs in, plans and rows out; and the tracks in between."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from pytest_puma.core import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a request asks of the cache: hold `tokens`, then either generate or branch out.

    A generating job may grow by `room` tokens. A scored job has `tails`, the tokens of each
    continuation; logits are wanted for all of them but the last one.
    """

    key: int
    tokens: array[int]
    room: int = 0
    tails: tuple[tuple[int, ...], ...] = ()

    @property
    def kv_slots(self) -> int:
        """Cache cells it needs when it shares nothing."""
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
    """Whose logits a row of the batch holds: those after `position` of a job's tail, or (`tail` None) of the job."""

    key: int
    tail: int | None
    position: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Operations in order, then one batch. `admitted`: the jobs that begin with it."""

    operations: list[Operation]
    steps: list[Step]
    admitted: list[int]


@dataclass(slots=True, eq=False)
class Track:
    """One sequence of the cache: the tokens it must come to hold, and how many it holds.

    Without a `job` it is a fork point. `cells` are those it alone accounts for; they are free again
    when it is dropped and its last child is gone.
    """

    tokens: array[int]
    rows_from: int
    sequence: int
    parent: Track | None
    kv_slots: int
    held: int
    job: Job | None = None
    tail: int | None = None
    children: int = 0
    dropped: bool = False

    @property
    def pending(self) -> int:
        """Tokens still to be decoded."""
        return len(self.tokens) - self.held

    @property
    def generates(self) -> bool:
        """Whether the prompt is behind it and only new tokens are pending."""
        return self.job is not None and self.tail is None and self.held >= len(self.job.tokens)

    def leads_to(self, job: Job) -> bool:
        """Whether it is to hold the beginning of the job's tokens, and not all of them."""
        length = len(self.tokens)
        return length < len(job.tokens) and job.tokens[:length] == self.tokens

    def step(self, tokens: int, rows: int) -> Step:
        """As much of the pending tokens as a batch with this much room can take."""
        end = min(len(self.tokens), self.held + tokens, max(self.rows_from, self.held) + rows)
        pending = self.tokens[self.held : end]
        return Step(self.sequence, self.held, pending, min(max(self.rows_from - self.held, 0), len(pending)))


def batch_of(tracks: Iterable[Track], *, tokens: int, rows: int) -> list[tuple[Track, Step]]:
    """What of these goes into a batch of so many tokens and rows of logits; of the last one perhaps only a part."""
    chosen: list[tuple[Track, Step]] = []
    for track in tracks:
        step = track.step(tokens, rows)
        if not step.tokens:
            break
        chosen.append((track, step))
        tokens -= len(step.tokens)
        rows -= len(step.tokens) - step.rows_from
    return chosen
