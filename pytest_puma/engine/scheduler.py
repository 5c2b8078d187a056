"""Composition of batches: which tokens of which sequence come next. Pure policy: no llama.cpp, no numpy, no clock.

Jobs wait in lexicographic order of their tokens. This order is a depth-first walk of their prefix tree,
so only the fork points on the path to the next job exist at any time:

    the sixteen shared instructions ──┬── issue 1 ── its answer
              (a fork point)          ├── issue 2 ── its answer
                                      └── issue 3 ──┬── label 1       (a scored job forks once more)
                                                    └── label 2

A fork point is a sequence of its own, decoded exactly to its end; its children copy it there. Nothing is
ever trimmed, as recurrent and sliding-window models require. A batch holds prompt tokens while any are
pending (prefill), else the next token of every generating sequence (decode).

A guided job has a twin: a second prompt in a sequence of its own, which gets the same tokens. Both start together, else
jobs that wait for their twins could fill the cache. Twins share prefixes along a path of their own.

With streams, llama.cpp computes the streams of a batch together only if their numbers are consecutive and
all bring the same number of tokens. So prompts are prefilled one by one, except for those whose last token alone is
pending; the sequences of jobs are numbered from the lowest, those of fork points from the highest, and gaps are filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_puma.core import Step
from pytest_puma.engine.jobs import Job, Operation, Plan, RowOwner
from pytest_puma.engine.path import Path
from pytest_puma.engine.sequences import Sequences, Track, batch_of

#: Fork points held at once, one per level of the prefix tree.
MAX_LEVELS = 6


@dataclass(slots=True, eq=False)
class _Running:
    """A job in the cache: its own sequences, and its tails that have not started."""

    job: Job
    prompt: Track
    twin: Track | None
    cached: int
    spare: list[int]
    tails_waiting: list[int]
    tails_open: int


class Scheduler:
    """Admits jobs while sequences and KV slots last, and composes batches.

    The caller repeats: `plan()`, carry it out, `advance()` for the rows, `extend` or `finish` for each
    generating job among them, `collect()` for the scored jobs that are complete.
    """

    def __init__(
        self, *, sequences: int, parallel: int, batch: int, rows: int, kv_slots: int, streams: bool = False
    ) -> None:
        self.sequences = Sequences(sequences, kv_slots=kv_slots, streams=streams)
        self._max_kv_slots = kv_slots // sequences if streams else kv_slots
        self._streams = streams
        self._finished: list[int] = []
        self._parallel = parallel
        self._batch = batch
        self._rows = rows
        # A job needs up to two sequences to progress: for its prompt, and for a continuation or its twin.
        self._levels = max(0, min(MAX_LEVELS, sequences - 2))
        self._path, self._twins = Path(self.sequences, ordered=True), Path(self.sequences, ordered=False)
        self._running: dict[int, _Running] = {}
        self._admitted: list[int] = []
        self._planned: list[tuple[Track, Step]] = []
        self._uncharged = 0

    # -- jobs come and go ------------------------------------------------------------------------

    def takes(self, job: Job) -> bool:
        """Whether the job fits into the empty cache. The continuations of a score share its prompt; streams cannot.

        Nor do they take a job with a twin: each would have to fit both.
        """
        return job.kv_slots <= self._max_kv_slots and not (self._streams and (job.tails or job.twin))

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue jobs that it takes."""
        self._path.waiting.add(jobs)
        self._twins.waiting.add([job.twin for job in jobs if job.twin])

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing runs."""
        return not self._path.waiting and not self._running

    def cached(self, key: int) -> int:
        """Prompt tokens that a running job found in the cache."""
        return self._running[key].cached

    def extend(self, key: int, token: int) -> None:
        """Continue a generating job with this token."""
        running = self._running[key]
        running.prompt.tokens.append(token)
        if running.twin is not None:
            running.twin.tokens.append(token)

    def finish(self, key: int) -> None:
        """End a generating job and free its sequence at once."""
        running = self._running.pop(key)
        self.sequences.drop(running.prompt)
        if running.twin is not None:
            self.sequences.drop(running.twin)

    def collect(self) -> list[int]:
        """Return the scored jobs that the last batch completed, and free their sequences."""
        finished, self._finished = self._finished, []
        for key in finished:
            self.sequences.unreserve(self._running[key].spare)
            self.finish(key)
        return finished

    def leave(self) -> list[Operation]:
        """Return the operations that drop unused fork points; call when idle."""
        self._path.leave()
        self._twins.leave()
        return self.sequences.operations()

    # -- the next batch --------------------------------------------------------------------------

    def plan(self) -> Plan:
        """Admit the jobs that fit, then fill one batch: pending prompts first, else one token of every sequence."""
        self._start_tails()
        while self._path.waiting and len(self._running) < self._parallel and self._admit(self._path.next_job()):
            pass
        self._planned = self._compose()
        admitted, self._admitted = self._admitted, []
        return Plan(self.sequences.operations(), [step for _, step in self._planned], admitted)

    def advance(self) -> list[RowOwner]:
        """Record the planned batch as computed; return the owners of its rows, in batch order."""
        rows: list[RowOwner] = []
        for track, step in self._planned:
            track.held += len(step.tokens)
            if track.job is not None:
                positions = range(step.start + step.rows_from, track.held)
                rows.extend(RowOwner(track.job.key, track.tail, position) for position in positions)
            if not track.pending and track.job is not None and track.job.tails:
                self._end_part(track, track.job)
        self._planned = []
        return rows

    def _compose(self) -> list[tuple[Track, Step]]:
        prefill = [track for track in self.sequences.in_order() if track.pending and not track.generates]
        if self._streams:
            prefill = [track for track in prefill if not track.at_last_token][:1]
            if not prefill:
                self.sequences.compact()
        tracks = prefill or [track for track in self.sequences.in_order() if track.pending]
        return batch_of(tracks, tokens=self._batch, rows=self._rows)

    # -- admission -------------------------------------------------------------------------------

    def _admit(self, job: Job) -> bool:
        """Start the next job, or a fork point on the path to it; False when that has to wait."""
        self._path.leave(job)
        self._twins.leave(job.twin)
        if self._path.pending or self._twins.pending:
            return False
        if len(self._path) + len(self._twins) < self._levels:
            for half, path in self._halves(job):
                if fork_at := path.next_fork(half):
                    return self._open_fork_point(job, half, path, fork_at)
        return self._start(job)

    def _halves(self, job: Job) -> list[tuple[Job, Path]]:
        """The job and its twin, if it has one, with their paths."""
        return [(job, self._path), *([(job.twin, self._twins)] if job.twin else [])]

    def _open_fork_point(self, job: Job, half: Job, path: Path, length: int) -> bool:
        # The job below it must fit as well, else the fork point would block the cache.
        if not self._fits(job, sequences=1 + _min_sequences(job)) or self.sequences.separates_jobs():
            return False
        self._uncharged += length - path.tokens
        path.fork(half, length)
        return True

    def _start(self, job: Job) -> bool:
        if not self._fits(job, sequences=_min_sequences(job)):
            return False
        above = self._path.tokens + self._twins.tokens
        # The slots of the twin are among those of the job. It comes second, so that its rows do.
        prompt, *twin = [
            self._open(half, path, kv_slots=job.kv_slots - above if half is job else 0)
            for half, path in self._halves(job)
        ]
        self._admitted.append(job.key)
        # A fork point is computed for the first job below it; the others find it in the cache.
        charged = min(self._uncharged, above)
        self._uncharged -= charged
        # A tail of one token needs only the row after the prompt.
        waiting = [index for index, tail in enumerate(job.tails) if len(tail) > 1]
        self._running[job.key] = _Running(
            job=job,
            prompt=prompt,
            twin=twin[0] if twin else None,
            cached=above - charged,
            spare=self.sequences.reserve(min(len(waiting) - 1, len(self.sequences.free))),
            tails_waiting=waiting[::-1],
            tails_open=len(waiting),
        )
        return True

    def _open(self, job: Job, path: Path, *, kv_slots: int) -> Track:
        path.waiting.remove(job)
        return self.sequences.open(job.tokens[:], len(job.tokens) - 1, path.end, kv_slots=kv_slots, job=job)

    def _fits(self, job: Job, *, sequences: int) -> bool:
        """Whether this many sequences are free, and KV slots for the job's tokens after the fork points."""
        above = self._path.tokens + self._twins.tokens
        return len(self.sequences.free) >= sequences and self.sequences.free_kv_slots >= job.kv_slots - above

    # -- the tails of a scored job ---------------------------------------------------------------

    def _start_tails(self) -> None:
        """Fork each complete prompt once per continuation; the last continuation takes the prompt's own sequence."""
        for running in self._running.values():
            prompt = running.prompt
            while running.tails_waiting and not prompt.pending:
                last = len(running.tails_waiting) == 1
                if not last and not running.spare:
                    break
                index = running.tails_waiting.pop()
                sequence = prompt.sequence if last else running.spare.pop(0)
                self.sequences.open_tail(running.job, index, prompt=prompt.sequence, sequence=sequence)

    def _end_part(self, track: Track, job: Job) -> None:
        """End the prompt or a tail of a scored job; the job is complete when no tail is open."""
        running = self._running[job.key]
        if track.tail is not None:
            running.tails_open -= 1
            if track.sequence != running.prompt.sequence:
                self.sequences.close_tail(track)
                running.spare.append(track.sequence)
        if running.tails_open == 0:
            self._finished.append(job.key)


def _min_sequences(job: Job) -> int:
    """A scored job progresses with one sequence for its prompt and one for a continuation at a time."""
    return 2 if job.twin or len(job.tails) > 1 else 1
