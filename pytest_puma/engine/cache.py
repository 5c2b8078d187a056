"""Size of the KV cache for a set of jobs, and whether their sequences share it or have streams of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_puma.core import Backend
from pytest_puma.core.shared import common_prefix
from pytest_puma.engine.jobs import Job

#: llama.cpp rounds the size of a cache, and of each stream, up to a multiple of this.
KV_SLOT_BLOCK = 256
#: Streams beyond the running jobs, for the prefixes that they share.
SHARED_STREAMS = 2
#: Tokens that llama.cpp multiplies at once on a CPU: a step of 25 tokens takes nearly as long as one of 28.
_TOKENS_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Cache:
    """Arguments of `Backend.open`: `kv_slots` in total, shared (0 `streams`) or divided among `streams`."""

    kv_slots: int
    streams: int = 0

    def parallel(self, backend: Backend) -> int:
        """Number of requests that run in it at once."""
        return self.streams - SHARED_STREAMS if self.streams else backend.parallel


def cache_for(jobs: Sequence[Job], backend: Backend) -> tuple[Cache, Sequence[Job], Sequence[Job]]:
    """Return the fastest cache for these jobs, the jobs to run in it, and the jobs that a later cache suits better.

    A shared cache stores a prefix once, and any mixture of prompts fills a batch. But each new token visits the KV
    slots of all sequences, if only to skip them: where jobs decode more tokens than they prefill, streams are faster.
    """
    if backend.kv_slots is not None:
        return Cache(whole_blocks(max(backend.kv_slots, *(job.kv_slots for job in jobs)))), jobs, []
    first, later = _alike(jobs, backend)
    if _want_streams(first, backend):
        longest = whole_blocks(first[-1].kv_slots)
        streams = _jobs_at_once(len(first), longest, backend) + SHARED_STREAMS
        return Cache(streams * longest, streams), first, later
    return Cache(whole_blocks(_shared_kv_slots(sorted(jobs), backend))), jobs, []


def _alike(jobs: Sequence[Job], backend: Backend) -> tuple[list[Job], list[Job]]:
    """The shortest jobs, to be computed together in streams, and the rest.

    Each stream has slots for the longest job in the cache, so one long job would leave space for few streams. The jobs
    are partitioned by length into the fewest waves, then into the fewest partitions: each partition computes the shared
    prefix again.
    """
    ordered = sorted(jobs, key=lambda job: (job.kv_slots, job.key))
    kv_slots = [whole_blocks(job.kv_slots) for job in ordered]
    cuts = [index for index, (left, right) in enumerate(pairwise(kv_slots), start=1) if left < right]
    # `best[i]`: (waves, partitions, end of the first partition) for the jobs from `i` on.
    best = {len(jobs): (0, 0, 0)}
    for start in [*cuts[::-1], 0]:
        best[start] = min(
            (_waves(end - start, kv_slots[end - 1], backend) + waves, partitions + 1, end)
            for end, (waves, partitions, _) in best.items()
        )
    end = best[0][2]
    return ordered[:end], ordered[end:]


def _want_streams(jobs: Sequence[Job], backend: Backend) -> bool:
    """Whether the jobs, the longest last, decode more than they prefill, and no more would run in a shared cache."""
    if any(job.tails or job.twin for job in jobs):
        return False
    unshared, decoded = sum(_unshared_kv_slots(sorted(jobs))), sum(job.room for job in jobs)
    if decoded <= unshared - decoded:
        return False
    at_once = min(backend.parallel, len(jobs), backend.good_kv_slots * len(jobs) // unshared)
    return 1 < min(_max_streams(whole_blocks(jobs[-1].kv_slots), backend), len(jobs)) >= at_once


def _waves(jobs: int, longest: int, backend: Backend) -> int:
    """Number of times that streams of `longest` KV slots are filled; a last wave of few jobs counts as a full one."""
    return math.ceil(jobs / _max_streams(longest, backend))


def _jobs_at_once(jobs: int, longest: int, backend: Backend) -> int:
    """Number of streams for the fewest waves, of about the same size: 28 and 22 for 50 jobs."""
    equal = math.ceil(jobs / _waves(jobs, longest, backend))
    return min(jobs, _max_streams(longest, backend), _rounded_up(equal, _TOKENS_AT_ONCE))


def _max_streams(longest: int, backend: Backend) -> int:
    """Number of streams of `longest` KV slots that jobs may have."""
    return max(1, min(backend.parallel_streams, backend.stream_kv_slots // longest - SHARED_STREAMS))


def _shared_kv_slots(jobs: Sequence[Job], backend: Backend) -> int:
    """KV slots for as many of the ordered jobs at once as is useful, with the longest prefix of two jobs counted once.

    Each query visits every slot in use, so more than `good_kv_slots` beside the shared ones do not pay.
    Never fewer than the longest job needs.
    """
    unshared = _unshared_kv_slots(jobs)
    shared = max(job.kv_slots - slots for job, slots in zip(jobs, unshared, strict=True))
    wanted = sum(sorted(unshared, reverse=True)[: backend.parallel])
    return max(*(job.kv_slots for job in jobs), shared + min(wanted, backend.good_kv_slots))


def _unshared_kv_slots(jobs: Sequence[Job]) -> list[int]:
    """KV slots of each of the ordered jobs, without the prefix that it shares with the job before it."""
    common = [0, *(common_prefix(left.tokens, right.tokens) for left, right in pairwise(jobs))]
    return [job.kv_slots - shared for job, shared in zip(jobs, common, strict=True)]


def whole_blocks(kv_slots: int) -> int:
    """Round up as llama.cpp does."""
    return _rounded_up(kv_slots, KV_SLOT_BLOCK)


def _rounded_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple
