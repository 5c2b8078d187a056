"""How large a cache the jobs of a cell get, and whether their sequences share it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_puma.core import Backend
from pytest_puma.engine.jobs import Job
from pytest_puma.engine.prefix import common_prefix

#: llama.cpp rounds a cache, and each stream of one, up to a multiple of this.
CELL_BLOCK = 256
#: Streams beyond the running jobs, for the beginnings that they share.
SHARED_STREAMS = 2


@dataclass(frozen=True, slots=True)
class Cache:
    """As a backend opens it: `cells` in all, shared, or divided among so many `streams`."""

    cells: int
    streams: int = 0

    def parallel(self, backend: Backend) -> int:
        """How many requests run in it at once."""
        return self.streams - SHARED_STREAMS if self.streams else backend.parallel


def cache_for(jobs: Sequence[Job], backend: Backend) -> Cache:
    """The cache in which these jobs are computed soonest.

    In a shared one a beginning is there once, and any mixture of prompts fills a batch. But each new token looks at
    the cells of all sequences, if only to pass over them: where more is written than read, streams are faster.
    """
    if backend.cells is not None:
        return Cache(whole_blocks(max(backend.cells, *(job.cells for job in jobs))))
    jobs = sorted(jobs)
    own = _own_cells(jobs)
    written = sum(job.room for job in jobs)
    longest = whole_blocks(max(job.cells for job in jobs))
    together = _together(len(jobs), min(backend.parallel_streams, backend.stream_cells // longest - SHARED_STREAMS))
    if together > 1 and written > sum(own) - written and not any(job.tails for job in jobs):
        streams = together + SHARED_STREAMS
        return Cache(streams * longest, streams)
    return Cache(whole_blocks(_shared_cells(jobs, own, backend)))


def _together(jobs: int, most: int) -> int:
    """As many at once that the jobs come in waves of one size: a few left for the last would take as long as many."""
    return math.ceil(jobs / math.ceil(jobs / most)) if most > 0 else 0


def _shared_cells(jobs: Sequence[Job], own: Sequence[int], backend: Backend) -> int:
    """Cells that let as many jobs run at once as is worth it, the longest beginning of two counted once.

    Each query looks at every cell in use, so more than `good_cells` beside the shared ones does not pay.
    Never less than the longest job needs.
    """
    shared = max(job.cells - each for job, each in zip(jobs, own, strict=True))
    wanted = sum(sorted(own, reverse=True)[: backend.parallel])
    return max(*(job.cells for job in jobs), shared + min(wanted, backend.good_cells))


def _own_cells(jobs: Sequence[Job]) -> list[int]:
    """Of each of the ordered jobs, the cells beyond what it has in common with the job before it."""
    common = [0, *(common_prefix(left.tokens, right.tokens) for left, right in pairwise(jobs))]
    return [job.cells - each for job, each in zip(jobs, common, strict=True)]


def whole_blocks(cells: int) -> int:
    """The cells that llama.cpp makes of so many."""
    return -(-cells // CELL_BLOCK) * CELL_BLOCK
