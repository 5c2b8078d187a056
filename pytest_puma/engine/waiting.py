"""The jobs that are not yet in the cache, in the order in which they are served."""

from __future__ import annotations

import sys
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from pytest_puma.engine.jobs import Job
from pytest_puma.engine.track import Track


class Waiting:
    """Jobs in lexicographic order of their tokens, so that jobs with a shared prefix are neighbours."""

    def __init__(self) -> None:
        # Served from the end: popping there is cheap.
        self._jobs: list[Job] = []

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def add(self, jobs: Sequence[Job]) -> None:
        """Put each job in its place."""
        if len(jobs) > len(self._jobs):
            self._jobs = sorted([*self._jobs, *jobs], reverse=True)
            return
        for job in jobs:
            insort(self._jobs, job, key=_Backwards)

    def first(self, path: Sequence[Track]) -> Job:
        """The first job below the newest fork point of the path that has one, else the first job of all.

        So a late job does not drop a prefix that other jobs still wait for.
        """
        for point in reversed(path):
            place = self._place(Job(key=sys.maxsize, tokens=point.tokens))
            if place and point.leads_to(self._jobs[place - 1]):
                return self._jobs[place - 1]
        return self._jobs[-1]

    def after(self, job: Job) -> Iterator[Job]:
        """The jobs that are served after this one, in order."""
        return (self._jobs[index] for index in range(self._place(job) - 1, -1, -1))

    def remove(self, job: Job) -> None:
        """Take the job out of the queue."""
        del self._jobs[self._place(job)]

    def _place(self, job: Job) -> int:
        """Index of a job, or of its insertion; jobs served after it have lower indices."""
        return bisect_left(self._jobs, _Backwards(job), key=_Backwards)


class _Backwards:
    """Sort key that reverses the order of jobs."""

    __slots__ = ("job",)

    def __init__(self, job: Job) -> None:
        self.job = job

    def __lt__(self, other: _Backwards) -> bool:
        return other.job < self.job
