"""The way through the prefix tree to the next job: its fork points, and the jobs that wait for them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from pytest_puma.core.shared import common_prefix
from pytest_puma.engine.jobs import Job, Waiting
from pytest_puma.engine.sequences import Sequences, Track

#: A fork point costs one more round trip. It must save as many tokens: computing them again is cheaper for fewer.
MIN_SAVED_TOKENS = 16
#: A shared prefix shorter than this is computed again, by however many jobs: its fork point would displace longer ones.
MIN_SHARED_PREFIX = 4


class Path:
    """Fork points, each a prefix of the next one, one for each level of the tree; and the waiting jobs.

    `ordered`: they are served in the order of their tokens, so that those before the next one have been. Twins are
    served in the order of the jobs that they belong to.
    """

    def __init__(self, sequences: Sequences, *, ordered: bool) -> None:
        self.waiting = Waiting()
        self._ordered = ordered
        self._sequences = sequences
        self._points: list[Track] = []

    def __len__(self) -> int:
        return len(self._points)

    @property
    def end(self) -> Track | None:
        """The last fork point, which the next job continues."""
        return self._points[-1] if self._points else None

    @property
    def tokens(self) -> int:
        """Number of tokens up to its end."""
        return len(self._points[-1].tokens) if self._points else 0

    @property
    def pending(self) -> bool:
        """Whether its end is still to be computed."""
        return bool(self._points and self._points[-1].pending)

    def next_job(self) -> Job:
        """The waiting job that is served next."""
        return self.waiting.first([point.tokens for point in self._points])

    def next_fork(self, job: Job) -> int:
        """Position of the next branch of the tree between the end and that of the job's prompt; 0 if none pays."""
        fork_at, above = 0, self.tokens
        for followers, shared in enumerate(self._shared(job), start=1):
            if shared < above + MIN_SHARED_PREFIX:
                break
            if followers * (shared - above) >= MIN_SAVED_TOKENS:
                fork_at = shared
        return fork_at

    def _shared(self, job: Job) -> Iterable[int]:
        """The number of tokens that each other job shares with it, the largest first."""

        def shared(other: Job) -> int:
            # The last token always belongs to the job alone: the job needs its logits.
            return min(common_prefix(job.tokens, other.tokens), len(job.tokens) - 1)

        after = map(shared, self.waiting.after(job))
        return after if self._ordered else heapq.merge(after, map(shared, self.waiting.before(job)), reverse=True)

    def fork(self, job: Job, length: int) -> None:
        """Open the fork point after this number of the job's tokens."""
        above, end = self.tokens, self.end
        self._points.append(self._sequences.open(job.tokens[:length], length, end, kv_slots=length - above))

    def leave(self, job: Job | None = None) -> None:
        """Drop the fork points that are not a prefix of the job; without a job, all. One to be computed stays."""
        while self._points and not self._points[-1].pending:
            if job is not None and job.continues(self._points[-1].tokens):
                return
            self._sequences.drop(self._points.pop())
