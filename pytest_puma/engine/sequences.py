"""The sequences and KV slots of a cache: which are free, which are in use, and the operations between two batches."""

from __future__ import annotations

from array import array
from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_puma.core import Step
from pytest_puma.engine.jobs import Drop, Fork, Job, Operation


@dataclass(slots=True, eq=False)
class Track:
    """A sequence and its target `tokens`, of which it holds the first `held`.

    Without a `job` it is a fork point. `kv_slots` counts the slots that only this track accounts for; they become
    free when it is dropped and its last child is gone.
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
        """Whether its prefill is complete and only new tokens are pending."""
        return self.job is not None and self.tail is None and self.held >= len(self.job.tokens)

    @property
    def at_last_token(self) -> bool:
        """Whether a job has one token pending, and those before it in the cache."""
        return self.job is not None and self.held > 0 and self.pending == 1

    def step(self, tokens: int, rows: int) -> Step:
        """Return the next tokens that fit into `tokens` tokens and `rows` rows of logits."""
        end = min(len(self.tokens), self.held + tokens, max(self.rows_from, self.held) + rows)
        pending = self.tokens[self.held : end]
        rows_from = min(max(self.rows_from - self.held, 0), len(pending))
        prompt = None if self.job is None else len(self.job.tokens)
        return Step(self.sequence, self.held, pending, rows_from, prompt)


class Sequences:
    """Opens and drops tracks, and records the forks and drops that the backend must carry out.

    With `streams`, each sequence has its own part of the cache. Jobs then take the lowest free number and fork points
    the highest, so that the jobs of a batch have consecutive numbers.
    """

    def __init__(self, count: int, *, kv_slots: int, streams: bool) -> None:
        self.free = list(range(count))
        self.free_kv_slots = kv_slots
        self._streams = streams
        self._tracks: dict[int, Track] = {}
        self._operations: list[Operation] = []

    def operations(self) -> list[Operation]:
        """Return the operations recorded since the last call."""
        operations, self._operations = self._operations, []
        return operations

    def in_order(self) -> list[Track]:
        """The tracks by the number of their sequence."""
        return [self._tracks[sequence] for sequence in sorted(self._tracks)]

    def owner(self, sequence: int) -> int | None:
        """The key of the job that a sequence belongs to, None for a fork point."""
        job = self._tracks[sequence].job
        return None if job is None else job.key

    def open(
        self, tokens: array[int], rows_from: int, parent: Track | None, *, kv_slots: int, job: Job | None = None
    ) -> Track:
        """Start a track in a free sequence, forked from its parent if it has one."""
        sequence = self.free.pop(-1 if self._streams and job is None else 0)
        held = len(parent.tokens) if parent else 0
        if parent is not None:
            parent.children += 1
            self._operations.append(Fork(parent.sequence, sequence))
        self.free_kv_slots -= kv_slots
        track = Track(tokens, rows_from, sequence, parent, kv_slots, held, job)
        self._tracks[sequence] = track
        return track

    def drop(self, track: Track) -> None:
        """Empty the track's sequence and free it."""
        self._operations.append(Drop(track.sequence))
        del self._tracks[track.sequence]
        insort(self.free, track.sequence)
        track.dropped = True
        self._release(track)

    def reserve(self, count: int) -> list[int]:
        """Take free sequences for the tails of a job."""
        return [self.free.pop(0) for _ in range(count)]

    def unreserve(self, sequences: Iterable[int]) -> None:
        """Free reserved sequences that are empty."""
        for sequence in sequences:
            insort(self.free, sequence)

    def open_tail(self, job: Job, tail: int, *, prompt: int, sequence: int) -> None:
        """Start a tail of a scored job in a reserved sequence, forked from its prompt, or in the prompt's own."""
        if sequence != prompt:
            self._operations.append(Fork(prompt, sequence))
        length, tokens = len(job.tokens), array("i", [*job.tokens, *job.tails[tail][:-1]])
        self._tracks[sequence] = Track(tokens, length, sequence, None, 0, length, job, tail)

    def close_tail(self, track: Track) -> None:
        """Empty the reserved sequence of a tail."""
        del self._tracks[track.sequence]
        self._operations.append(Drop(track.sequence))

    def separates_jobs(self) -> bool:
        """Whether the next fork point would take a stream between those of jobs, where `compact` cannot move them."""
        return self._streams and any(track.job and track.sequence > self.free[-1] for track in self._tracks.values())

    def compact(self) -> None:
        """Move the jobs into the lowest sequences."""
        for track in reversed([track for track in self.in_order() if track.job is not None]):
            if not self.free or self.free[0] > track.sequence:
                return
            left, track.sequence = track.sequence, self.free.pop(0)
            self._tracks[track.sequence] = self._tracks.pop(left)
            self._operations += [Fork(left, track.sequence), Drop(left)]
            insort(self.free, left)

    def _release(self, track: Track | None) -> None:
        """Free the KV slots of a dropped track, unless children still share them."""
        while track is not None and track.dropped and not track.children:
            self.free_kv_slots += track.kv_slots
            track = track.parent
            if track is not None:
                track.children -= 1


def batch_of(tracks: Iterable[Track], *, tokens: int, rows: int) -> list[tuple[Track, Step]]:
    """Fill a batch of at most these tokens and rows of logits; the last track may be cut to fit."""
    chosen: list[tuple[Track, Step]] = []
    for track in tracks:
        step = track.step(tokens, rows)
        if not step.tokens:
            break
        chosen.append((track, step))
        tokens -= len(step.tokens)
        rows -= len(step.tokens) - step.rows_from
    return chosen
