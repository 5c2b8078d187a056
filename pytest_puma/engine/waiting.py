"""The jobs that are not yet in the cache, in the order in which they are served."""

from __future__ import annotations

import sys
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from pytest_puma.engine.jobs import Job, Track


class Waiting:
    """Jobs in lexicographic order of their tokens, so that those with a common beginning follow each other."""

    def __init__(self) -> None:
        # Served from the end: popping there is cheap.
        self._jobs: list[Job] = []

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def add(self, jobs: Sequence[Job]) -> None:
        """Put each in its place."""
        if len(jobs) > len(self._jobs):
            self._jobs = sorted([*self._jobs, *jobs], reverse=True)
            return
        for job in jobs:
            insort(self._jobs, job, key=_Backwards)

    def first(self, path: Sequence[Track]) -> Job:
        """The first job below the newest fork point of the path that has one, else the first of all.

        So a job that comes late does not tear down a prefix that others still wait for.
        """
        for point in reversed(path):
            place = self._place(Job(key=sys.maxsize, tokens=point.tokens))
            if place and point.leads_to(self._jobs[place - 1]):
                return self._jobs[place - 1]
        return self._jobs[-1]

    def after(self, job: Job) -> Iterator[Job]:
        """Those that are served after a job, in order."""
        return (self._jobs[index] for index in range(self._place(job) - 1, -1, -1))

    def remove(self, job: Job) -> None:
        """It waits no longer."""
        del self._jobs[self._place(job)]

    def _place(self, job: Job) -> int:
        """Where a job is or would be; those that are served after it lie before."""
        return bisect_left(self._jobs, _Backwards(job), key=_Backwards)


class _Backwards:
    """Sort key that turns the order of jobs around."""

    __slots__ = ("job",)

    def __init__(self, job: Job) -> None:
        self.job = job

    def __lt__(self, other: _Backwards) -> bool:
        return other.job < self.job
