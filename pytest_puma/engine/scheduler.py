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

Where sequences have streams of their own, the streams of a batch are computed together only if their
numbers follow each other and each brings as many tokens: prompts go one by one, the sequences of jobs are
numbered from the lowest and those of fork points from the highest, and holes are filled from the end.
"""

from __future__ import annotations

from array import array
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_puma.core import Step
from pytest_puma.core.prefix import common_prefix
from pytest_puma.engine.jobs import Drop, Fork, Job, Operation, Plan, Row, Track, batch_of
from pytest_puma.engine.waiting import Waiting

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

    def __init__(
        self, *, sequences: int, parallel: int, batch: int, rows: int, kv_slots: int, streams: bool = False
    ) -> None:
        self._longest = kv_slots // sequences if streams else kv_slots
        self._streams = streams
        self._finished: list[int] = []
        self._parallel = parallel
        self._batch = batch
        self._rows = rows
        # A scored job needs two sequences to get on: one for its prompt, one for a continuation.
        self._levels = max(0, min(MOST_LEVELS, sequences - 2))
        self._free = list(range(sequences))
        self._waiting = Waiting()
        self._path: list[Track] = []
        self._running: dict[int, _Running] = {}
        self._tracks: dict[int, Track] = {}
        self._operations: list[Operation] = []
        self._admitted: list[int] = []
        self._planned: list[tuple[Track, Step]] = []
        self._free_kv_slots = kv_slots
        self._uncharged = 0

    # -- jobs come and go ------------------------------------------------------------------------

    def takes(self, job: Job) -> bool:
        """Whether the job fits into the cache alone. The continuations of a score share its prompt: no streams do."""
        return job.kv_slots <= self._longest and not (self._streams and job.tails)

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue jobs that it takes."""
        self._waiting.add(jobs)

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
                insort(self._free, sequence)
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
        while self._waiting and len(self._running) < self._parallel and self._admit(self._waiting.first(self._path)):
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
        prefill = [track for track in self._in_order() if track.pending and not track.generates]
        if self._streams:
            del prefill[1:]
            if not prefill:
                self._close_ranks()
        tracks = prefill or [track for track in self._in_order() if track.pending]
        return batch_of(tracks, tokens=self._batch, rows=self._rows)

    def _in_order(self) -> list[Track]:
        return [self._tracks[sequence] for sequence in sorted(self._tracks)]

    def _close_ranks(self) -> None:
        """Let the jobs have the lowest sequences."""
        for track in reversed([each for each in self._in_order() if each.job is not None]):
            if not self._free or self._free[0] > track.sequence:
                return
            left, track.sequence = track.sequence, self._free.pop(0)
            self._tracks[track.sequence] = self._tracks.pop(left)
            self._operations += [Fork(left, track.sequence), Drop(left)]
            insort(self._free, left)

    # -- admission -------------------------------------------------------------------------------

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
        for other in self._waiting.after(job):
            # The last token is always the job's own: its logits are what the job is for.
            shared = min(common_prefix(job.tokens, other.tokens), len(job.tokens) - 1)
            if shared < above + LEAST_SHARED:
                break
            fork_at = shared
        return fork_at

    def _open_fork_point(self, job: Job, parent: Track | None, length: int) -> bool:
        above = len(parent.tokens) if parent else 0
        # The job below it must fit as well, else the fork point would block the cache.
        if len(self._free) < 1 + _least_sequences(job) or self._free_kv_slots < job.kv_slots - above:
            return False
        if self._streams and any(each.job and each.sequence > self._free[-1] for each in self._tracks.values()):
            # It would lie among the jobs, and they would never close ranks.
            return False
        track = self._track(job.tokens[:length], length, parent, kv_slots=length - above)
        self._path.append(track)
        self._uncharged += length - above
        return True

    def _start(self, job: Job, parent: Track | None) -> bool:
        above = len(parent.tokens) if parent else 0
        if len(self._free) < _least_sequences(job) or self._free_kv_slots < job.kv_slots - above:
            return False
        self._waiting.remove(job)
        self._admitted.append(job.key)
        track = self._track(job.tokens[:], len(job.tokens) - 1, parent, kv_slots=job.kv_slots - above, job=job)
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
            spare=[self._free.pop(0) for _ in range(spare)],
            tails_waiting=waiting[::-1],
            tails_open=len(waiting),
        )
        return True

    def _leave(self, job: Job | None = None) -> None:
        """Drop the fork points that the job does not lie under; without a job, all."""
        while self._path and not self._path[-1].pending:
            if job is not None and self._path[-1].leads_to(job):
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
            kv_slots=0,
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
        self, tokens: array[int], rows_from: int, parent: Track | None, *, kv_slots: int, job: Job | None = None
    ) -> Track:
        """Take a sequence, forked from the parent where there is one."""
        sequence = self._free.pop(-1 if self._streams and job is None else 0)
        held = len(parent.tokens) if parent else 0
        if parent is not None:
            parent.children += 1
            self._operations.append(Fork(parent.sequence, sequence))
        self._free_kv_slots -= kv_slots
        track = Track(tokens, rows_from, sequence, parent, kv_slots, held, job)
        self._tracks[sequence] = track
        return track

    def _drop(self, track: Track) -> None:
        self._operations.append(Drop(track.sequence))
        del self._tracks[track.sequence]
        insort(self._free, track.sequence)
        track.dropped = True
        self._release(track)

    def _release(self, track: Track | None) -> None:
        """Cells are shared with children: they are free when the last of those is."""
        while track is not None and track.dropped and not track.children:
            self._free_kv_slots += track.kv_slots
            track = track.parent
            if track is not None:
                track.children -= 1


def _least_sequences(job: Job) -> int:
    """A scored job gets on with a sequence for its prompt and one for a continuation at a time."""
    return min(2, max(1, len(job.tails)))
