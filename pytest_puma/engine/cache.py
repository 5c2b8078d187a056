"""How large a cache the jobs of a cell get, and whether their sequences share it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_puma.core import Backend
from pytest_puma.core.prefix import common_prefix
from pytest_puma.engine.jobs import Job

#: llama.cpp rounds a cache, and each stream of one, up to a multiple of this.
KV_SLOT_BLOCK = 256
#: Streams beyond the running jobs, for the beginnings that they share.
SHARED_STREAMS = 2


@dataclass(frozen=True, slots=True)
class Cache:
    """As a backend opens it: `cells` in all, shared, or divided among so many `streams`."""

    kv_slots: int
    streams: int = 0

    def parallel(self, backend: Backend) -> int:
        """How many requests run in it at once."""
        return self.streams - SHARED_STREAMS if self.streams else backend.parallel


def cache_for(jobs: Sequence[Job], backend: Backend) -> tuple[Cache, Sequence[Job], Sequence[Job]]:
    """The cache in which these jobs are computed soonest, the jobs it is for, and those that another suits better.

    In a shared one a beginning is there once, and any mixture of prompts fills a batch. But each new token looks at
    the cells of all sequences, if only to pass over them: where more is written than read, streams are faster.
    """
    if backend.kv_slots is not None:
        return Cache(whole_blocks(max(backend.kv_slots, *(job.kv_slots for job in jobs)))), jobs, []
    first, later = _alike(jobs, backend)
    if _want_streams(first, backend):
        longest = _kv_slots(first[-1])
        streams = math.ceil(len(first) / _waves(len(first), longest, backend)) + SHARED_STREAMS
        return Cache(streams * longest, streams), first, later
    return Cache(whole_blocks(_shared_cells(sorted(jobs), backend))), jobs, []


def _alike(jobs: Sequence[Job], backend: Backend) -> tuple[list[Job], list[Job]]:
    """The shortest of the jobs, to be computed in streams by themselves, and the rest.

    A stream has room for the longest job of them all, so one long job would leave room for few streams. The jobs are
    cut by length into the fewest waves, then into the fewest parts, for each part computes anew what all begin with.
    """
    ordered = sorted(jobs, key=lambda job: (job.kv_slots, job.key))
    kv_slots = [_kv_slots(job) for job in ordered]
    cuts = [place for place, (left, right) in enumerate(pairwise(kv_slots), start=1) if left < right]
    # From a cut on: the waves and the parts to come, and where the first of these ends.
    best = {len(jobs): (0, 0, 0)}
    for start in [*cuts[::-1], 0]:
        best[start] = min(
            (_waves(end - start, kv_slots[end - 1], backend) + waves, parts + 1, end)
            for end, (waves, parts, _) in best.items()
        )
    end = best[0][2]
    return ordered[:end], ordered[end:]


def _want_streams(jobs: Sequence[Job], backend: Backend) -> bool:
    """Whether these, the longest last, write more than they read, and no more would run at once in a shared cache."""
    if any(job.tails for job in jobs):
        return False
    own, written = sum(_own_cells(sorted(jobs))), sum(job.room for job in jobs)
    if written <= own - written:
        return False
    at_once = min(backend.parallel, len(jobs), backend.good_kv_slots * len(jobs) // own)
    return 1 < min(_most(_kv_slots(jobs[-1]), backend), len(jobs)) >= at_once


def _waves(jobs: int, longest: int, backend: Backend) -> int:
    """How often streams of so many cells are filled; all of one size, for a few jobs left over take as long as many."""
    return math.ceil(jobs / _most(longest, backend))


def _most(longest: int, backend: Backend) -> int:
    """The streams of so many cells that jobs may have."""
    return max(1, min(backend.parallel_streams, backend.stream_kv_slots // longest - SHARED_STREAMS))


def _shared_cells(jobs: Sequence[Job], backend: Backend) -> int:
    """Cells that let as many of the ordered jobs run at once as is worth it, the longest beginning of two counted once.

    Each query looks at every cell in use, so more than `good_kv_slots` beside the shared ones does not pay.
    Never less than the longest job needs.
    """
    own = _own_cells(jobs)
    shared = max(job.kv_slots - each for job, each in zip(jobs, own, strict=True))
    wanted = sum(sorted(own, reverse=True)[: backend.parallel])
    return max(*(job.kv_slots for job in jobs), shared + min(wanted, backend.good_kv_slots))


def _own_cells(jobs: Sequence[Job]) -> list[int]:
    """Of each of the ordered jobs, the cells beyond what it has in common with the job before it."""
    common = [0, *(common_prefix(left.tokens, right.tokens) for left, right in pairwise(jobs))]
    return [job.kv_slots - each for job, each in zip(jobs, common, strict=True)]


def _kv_slots(job: Job) -> int:
    return whole_blocks(job.kv_slots)


def whole_blocks(kv_slots: int) -> int:
    """The cells that llama.cpp makes of so many."""
    return -(-kv_slots // KV_SLOT_BLOCK) * KV_SLOT_BLOCK
