"""Which tokens of which sequence go into the next batch. Pure policy: no llama.cpp, no numpy, no clock.

Jobs wait in lexicographic order of their tokens. Walked in that order they are a depth-first walk of
their prefix tree, so the fork points that are alive at any time are the few on the way to the next job:

    the sixteen shared instructions ──┬── issue 1 ── its answer
              (a fork point)          ├── issue 2 ── its answer
                                      └── issue 3 ──┬── label 1       (a scored job forks once more)
                                                    └── label 2

A fork point is a sequence of its own, decoded exactly to its end; its children copy it there. Nothing is
ever trimmed, which is what recurrent and sliding-window models need. A batch holds prompt tokens while any
are pending, else the next token of every generating sequence.
"""

from __future__ import annotations

import heapq
import sys
from array import array
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_puma.core import Step
from pytest_puma.engine.jobs import Drop, Fork, Job, Operation, Plan, Row, Track

#: A shared prefix shorter than this is computed again: cheaper than one more round trip for a fork point.
LEAST_SHARED = 16
#: Fork points held at once, one per level of the prefix tree.
MOST_LEVELS = 6


@dataclass(slots=True, eq=False)
class _Running:
    """A job in the cache: its own sequences, and the tails that still have to be started."""

    job: Job
    prompt: Track
    cached: int
    spare: list[int]
    tails_waiting: list[int]
    tails_open: int


class Scheduler:
    """Admits jobs while sequences and cells last, and composes batches.

    The caller repeats: `plan()`, carry it out, `advance()` for the rows, `extend` or `finish` for each
    generating job among them, `collect()` for the scored jobs that are complete.
    """

    def __init__(self, *, sequences: int, parallel: int, batch: int, rows: int, cells: int) -> None:
        self.cells = cells
        self._finished: list[int] = []
        self._parallel = parallel
        self._batch = batch
        self._rows = rows
        # A scored job needs two sequences to get on: one for its prompt, one for a continuation.
        self._levels = max(0, min(MOST_LEVELS, sequences - 2))
        self._free = list(range(sequences))
        self._waiting: list[Job] = []
        self._path: list[Track] = []
        self._running: dict[int, _Running] = {}
        self._tracks: dict[int, Track] = {}
        self._operations: list[Operation] = []
        self._admitted: list[int] = []
        self._planned: list[tuple[Track, Step]] = []
        self._free_cells = cells
        self._uncharged = 0

    # -- jobs come and go ------------------------------------------------------------------------

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue jobs; each must fit into the cache alone."""
        if len(jobs) > len(self._waiting):
            # Served from the end: popping there is cheap.
            self._waiting = sorted([*self._waiting, *jobs], reverse=True)
            return
        for job in jobs:
            insort(self._waiting, job, key=_Backwards)

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing runs."""
        return not self._waiting and not self._running

    def cached(self, key: int) -> int:
        """How many prompt tokens of a running job it did not have to compute."""
        return self._running[key].cached

    def extend(self, key: int, token: int) -> None:
        """A generating job goes on with this token."""
        self._running[key].prompt.tokens.append(token)

    def finish(self, key: int) -> None:
        """A generating job is done; its sequence is free at once."""
        running = self._running.pop(key)
        self._drop(running.prompt)

    def collect(self) -> list[int]:
        """The scored jobs that the last batch completed; their sequences are free now."""
        finished, self._finished = self._finished, []
        for key in finished:
            for sequence in self._running[key].spare:
                heapq.heappush(self._free, sequence)
            self.finish(key)
        return finished

    def leave(self) -> list[Operation]:
        """When idle: what empties the cache of the fork points kept for later requests."""
        self._leave()
        operations, self._operations = self._operations, []
        return operations

    # -- the next batch --------------------------------------------------------------------------

    def plan(self) -> Plan:
        """Admit what fits, then fill one batch: pending prompts first, else one token of every sequence."""
        self._start_tails()
        while self._waiting and len(self._running) < self._parallel and self._admit(self._next()):
            pass
        self._planned = self._compose()
        operations, self._operations = self._operations, []
        admitted, self._admitted = self._admitted, []
        return Plan(operations, [step for _, step in self._planned], admitted)

    def advance(self) -> list[Row]:
        """The planned batch is computed: the owners of its rows, in batch order."""
        rows: list[Row] = []
        for track, step in self._planned:
            track.held += len(step.tokens)
            if track.job is not None:
                positions = range(step.start + step.rows_from, track.held)
                rows.extend(Row(track.job.key, track.tail, position) for position in positions)
            if not track.pending and track.job is not None and track.job.tails:
                self._end_part(track, track.job)
        self._planned = []
        return rows

    def _compose(self) -> list[tuple[Track, Step]]:
        tracks = [self._tracks[sequence] for sequence in sorted(self._tracks)]
        prefill = [track for track in tracks if track.pending and not track.generates]
        chosen: list[tuple[Track, Step]] = []
        tokens, rows = self._batch, self._rows
        for track in prefill or [track for track in tracks if track.pending]:
            step = track.step(tokens, rows)
            if not step.tokens:
                break
            chosen.append((track, step))
            tokens -= len(step.tokens)
            rows -= len(step.tokens) - step.rows_from
        return chosen

    # -- admission -------------------------------------------------------------------------------

    def _next(self) -> Job:
        """The first waiting job below the newest fork point that has one, else the first of all.

        So a job that comes late does not tear down a prefix that others still wait for.
        """
        for point in reversed(self._path):
            place = self._place(Job(key=sys.maxsize, tokens=point.tokens))
            if place and _lies_below(self._waiting[place - 1], point):
                return self._waiting[place - 1]
        return self._waiting[-1]

    def _place(self, job: Job) -> int:
        """Where a job waits or would wait; those that are served after it lie before."""
        return bisect_left(self._waiting, _Backwards(job), key=_Backwards)

    def _admit(self, job: Job) -> bool:
        """Start the next job, or the fork point on the way to it; False when that has to wait."""
        self._leave(job)
        parent = self._path[-1] if self._path else None
        if parent is not None and parent.pending:
            return False
        fork_at = self._next_fork(job, len(parent.tokens) if parent else 0)
        return self._open_fork_point(job, parent, fork_at) if fork_at else self._start(job, parent)

    def _next_fork(self, job: Job, above: int) -> int:
        """Where the tree branches next between `above` and the end of the job's prompt; 0 for nowhere."""
        if len(self._path) >= self._levels:
            return 0
        fork_at = 0
        for index in range(self._place(job) - 1, -1, -1):
            # The last token is always the job's own: its logits are what the job is for.
            shared = min(common_prefix(job.tokens, self._waiting[index].tokens), len(job.tokens) - 1)
            if shared < above + LEAST_SHARED:
                break
            fork_at = shared
        return fork_at

    def _open_fork_point(self, job: Job, parent: Track | None, length: int) -> bool:
        above = len(parent.tokens) if parent else 0
        # The job below it must fit as well, else the fork point would block the cache.
        if len(self._free) < 1 + _least_sequences(job) or self._free_cells < job.cells - above:
            return False
        track = self._track(job.tokens[:length], length, parent, cells=length - above)
        self._path.append(track)
        self._uncharged += length - above
        return True

    def _start(self, job: Job, parent: Track | None) -> bool:
        above = len(parent.tokens) if parent else 0
        if len(self._free) < _least_sequences(job) or self._free_cells < job.cells - above:
            return False
        del self._waiting[self._place(job)]
        self._admitted.append(job.key)
        track = self._track(job.tokens[:], len(job.tokens) - 1, parent, cells=job.cells - above, job=job)
        # A fork point is computed for the first job below it; the others find it in the cache.
        charged = min(self._uncharged, above)
        self._uncharged -= charged
        # For a tail of one token the row after the prompt is enough.
        waiting = [index for index, tail in enumerate(job.tails) if len(tail) > 1]
        spare = min(len(waiting) - 1, len(self._free))
        self._running[job.key] = _Running(
            job=job,
            prompt=track,
            cached=above - charged,
            spare=[heapq.heappop(self._free) for _ in range(spare)],
            tails_waiting=waiting[::-1],
            tails_open=len(waiting),
        )
        return True

    def _leave(self, job: Job | None = None) -> None:
        """Drop the fork points that the job does not lie under; without a job, all."""
        while self._path and not self._path[-1].pending:
            if job is not None and _lies_below(job, self._path[-1]):
                return
            self._drop(self._path.pop())

    # -- the tails of a scored job ---------------------------------------------------------------

    def _start_tails(self) -> None:
        """Fork a prompt that is complete once for each of its continuations; the last one takes its own sequence."""
        for running in self._running.values():
            prompt = running.prompt
            while running.tails_waiting and not prompt.pending:
                last = len(running.tails_waiting) == 1
                if not last and not running.spare:
                    break
                self._start_tail(running, last=last)

    def _start_tail(self, running: _Running, *, last: bool) -> None:
        index = running.tails_waiting.pop()
        prompt, tail = running.prompt, running.job.tails[index]
        sequence = prompt.sequence if last else running.spare.pop(0)
        if not last:
            self._operations.append(Fork(prompt.sequence, sequence))
        tokens = array("i", [*running.job.tokens, *tail[:-1]])
        self._tracks[sequence] = Track(
            tokens=tokens,
            rows_from=len(running.job.tokens),
            sequence=sequence,
            parent=None,
            cells=0,
            held=len(running.job.tokens),
            job=running.job,
            tail=index,
        )

    def _end_part(self, track: Track, job: Job) -> None:
        """The prompt or a tail of a scored job is computed; the job is complete when no tail is open."""
        running = self._running[job.key]
        if track.tail is not None:
            running.tails_open -= 1
            if track.sequence != running.prompt.sequence:
                del self._tracks[track.sequence]
                self._operations.append(Drop(track.sequence))
                running.spare.append(track.sequence)
        if running.tails_open == 0:
            self._finished.append(job.key)

    # -- sequences and cells ---------------------------------------------------------------------

    def _track(
        self, tokens: array[int], rows_from: int, parent: Track | None, *, cells: int, job: Job | None = None
    ) -> Track:
        """Take a sequence, forked from the parent where there is one."""
        sequence = heapq.heappop(self._free)
        held = len(parent.tokens) if parent else 0
        if parent is not None:
            parent.children += 1
            self._operations.append(Fork(parent.sequence, sequence))
        self._free_cells -= cells
        track = Track(tokens, rows_from, sequence, parent, cells, held, job)
        self._tracks[sequence] = track
        return track

    def _drop(self, track: Track) -> None:
        self._operations.append(Drop(track.sequence))
        del self._tracks[track.sequence]
        heapq.heappush(self._free, track.sequence)
        track.dropped = True
        self._release(track)

    def _release(self, track: Track | None) -> None:
        """Cells are shared with children: they are free when the last of those is."""
        while track is not None and track.dropped and not track.children:
            self._free_cells += track.cells
            track = track.parent
            if track is not None:
                track.children -= 1


class _Backwards:
    """Sort key that turns the order of jobs around."""

    __slots__ = ("job",)

    def __init__(self, job: Job) -> None:
        self.job = job

    def __lt__(self, other: _Backwards) -> bool:
        return other.job < self.job


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """The number of leading tokens that two sequences share."""
    low, high = 0, min(len(left), len(right))
    # Slices compare at C speed; a loop over tokens does not.
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _lies_below(job: Job, point: Track) -> bool:
    """Whether a fork point holds the beginning of the job's tokens, and not all of them."""
    length = len(point.tokens)
    return length < len(job.tokens) and job.tokens[:length] == point.tokens


def _least_sequences(job: Job) -> int:
    """A scored job gets on with a sequence for its prompt and one for a continuation at a time."""
    return min(2, max(1, len(job.tails)))
