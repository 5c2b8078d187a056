"""Runs a scheduler on a simulated cache as the engine does, and checks all operations, steps and rows."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pytest_puma.engine.jobs import Job, Plan, RowOwner
from pytest_puma.engine.scheduler import Scheduler
from tests.engine.cache import SimulatedCache

#: The tokens that each generating job adds before its last one.
Endings: TypeAlias = Mapping[int, tuple[int, ...]]
#: The job to submit when another one ends, made from the tokens of that one.
FollowUps: TypeAlias = Mapping[int, Callable[[Sequence[int]], Job]]


def job(
    key: int,
    tokens: Iterable[int],
    *,
    room: int = 1,
    tails: tuple[tuple[int, ...], ...] = (),
    twin: Iterable[int] = (),
) -> Job:
    """A generating job, with the tokens of its twin if it is guided, or a scored one where there are tails."""
    second = array("i", twin)
    return Job(
        key=key,
        tokens=array("i", tokens),
        room=0 if tails else room,
        tails=tails,
        twin=Job(key=key, tokens=second, room=room) if second else None,
    )


@dataclass(kw_only=True)
class Drive:
    """One scheduler with its limits, a simulated cache, and a record of the run."""

    sequences: int = 16
    parallel: int = 8
    batch: int = 512
    rows: int = 16
    kv_slots: int = 4096
    streams: bool = False
    endings: Endings = field(default_factory=dict)
    follow_ups: FollowUps = field(default_factory=dict)
    plans: list[Plan] = field(default_factory=list)
    cached: dict[int, int] = field(default_factory=dict)
    rows_of: dict[int, list[RowOwner]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(
            sequences=self.sequences,
            parallel=self.parallel,
            batch=self.batch,
            rows=self.rows,
            kv_slots=self.kv_slots,
            streams=self.streams,
        )
        self.cache = SimulatedCache(kv_slots=self.kv_slots, sequences=self.sequences, streams=self.streams)
        self.jobs: dict[int, Job] = {}
        self._expected: dict[int, array[int]] = {}
        self._waits_for_twin: set[int] = set()
        self._ended = 0

    @property
    def prompt_tokens_computed(self) -> int:
        """All computed tokens, without the generated ones and those of the continuations."""
        added = sum(len(self.endings.get(key, ())) * (2 if job.twin else 1) for key, job in self.jobs.items())
        return self.cache.fed - added - sum(len(tail) - 1 for job in self.jobs.values() for tail in job.tails)

    def submit(self, *jobs: Job) -> None:
        """Submit jobs to the scheduler."""
        for each in jobs:
            self.jobs[each.key] = each
            self.rows_of[each.key] = []
            self._expected[each.key] = each.tokens[:]
        self.scheduler.submit(jobs)

    def run(self) -> Drive:
        """Compute batches until no job is left."""
        while not self.scheduler.idle:
            self.step()
        return self

    def step(self) -> Plan:
        """Compute one batch."""
        plan = self.scheduler.plan()
        self.plans.append(plan)
        for operation in plan.operations:
            self.cache.carry_out(operation)
        for key in plan.admitted:
            assert key not in self.cached, f"job {key} is admitted twice"
            self.cached[key] = self.scheduler.cached(key)
        assert plan.steps, "jobs are waiting or running, but there is nothing to compute"
        assert len({step.sequence for step in plan.steps}) == len(plan.steps)
        assert sum(len(step.tokens) for step in plan.steps) <= self.batch
        contexts = [context for step in plan.steps for context in self.cache.feed(step)]
        assert len(contexts) <= self.rows
        assert len(self.cached) - self._ended <= self.parallel
        for context, row in zip(contexts, self.scheduler.advance(), strict=True):
            self._take(row, context)
        for key in self.scheduler.collect():
            self._end(key)
        return plan

    def _take(self, row: RowOwner, context: tuple[int, ...]) -> None:
        job = self.jobs[row.key]
        if row.key in self._waits_for_twin:
            self._waits_for_twin.remove(row.key)
            assert job.twin is not None
            assert context == (*job.twin.tokens, *self._expected[row.key][len(job.tokens) :])
        else:
            tail = () if row.tail is None else job.tails[row.tail]
            assert context == (*self._expected[row.key], *tail)[: row.position + 1]
            self.rows_of[row.key].append(row)
            if job.twin is not None:
                # Nothing follows before the row of its twin.
                self._waits_for_twin.add(row.key)
                return
        assert self.scheduler.cached(row.key) == self.cached[row.key]
        if job.tails:
            return
        ending = self.endings.get(row.key, ())
        added = len(self._expected[row.key]) - len(job.tokens)
        if added < len(ending):
            self.scheduler.extend(row.key, ending[added])
            self._expected[row.key].append(ending[added])
        else:
            self.scheduler.finish(row.key)
            self._end(row.key)

    def _end(self, key: int) -> None:
        self._ended += 1
        job, last = self.jobs[key], len(self.jobs[key].tokens) - 1
        expected = [RowOwner(key, None, last + added) for added in range(len(self.endings.get(key, ())) + 1)]
        expected += [
            RowOwner(key, index, last + 1 + position)
            for index, tail in enumerate(job.tails)
            for position in range(len(tail) - 1)
        ]
        assert sorted(map(str, self.rows_of[key])) == sorted(map(str, expected))
        if key in self.follow_ups:
            self.submit(self.follow_ups[key](self._expected[key]))
