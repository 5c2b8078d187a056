"""Requests in, responses out: every request of a cell goes through one continuously filled batch.

    engine = Engine(backend)
    responses = engine.run([Generate(...), Score(...)])

Generating and scoring are two kinds of request in one loop: the scheduler composes a batch, the backend
decodes it, and each row of logits goes to the request that waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from pytest_puma.core import ALL_CAPABILITIES, Backend, EngineError, Identity, Origin, Provenance, Step
from pytest_puma.core.conversation import Request, Response
from pytest_puma.core.usage import Speed
from pytest_puma.engine.cache import cache_for
from pytest_puma.engine.encoding import encode_all
from pytest_puma.engine.jobs import Fork, Job, Operation
from pytest_puma.engine.replies import Reply
from pytest_puma.engine.scheduler import Scheduler

if TYPE_CHECKING:
    from pytest_puma.engine.energy import EnergyMeter

#: A note where energy was asked for.
NO_COUNTER = "energy: not measured: no readable counter"


class Engine:
    """The engine over a backend. `submit` queues, `step` computes one batch, `run` does both to the end.

    `meter`: counts the energy of each batch, which its requests share by their computed tokens.

    `speed` sums the computed tokens and their time since the last `reset`, or since a cell began.
    """

    #: An engine computes all responses.
    kept = 0
    capabilities = ALL_CAPABILITIES

    def __init__(self, backend: Backend, meter: EnergyMeter | None = None) -> None:
        self.backend = backend
        self._meter = meter
        self._unshared = 0.0
        self.speed = Speed()
        self._tickets = 0
        self._scheduler: Scheduler | None = None
        self._queue: list[Job] = []
        self._replies: dict[int, Reply] = {}
        self._finished: dict[int, Response] = {}
        self._beside: list[Job] = []
        self._signature: Mapping[str, Any] = {}

    @property
    def identity(self) -> Identity | None:
        """The weights and everything else that could change an answer; None for a backend without a digest."""
        backend = self.backend
        weights = backend.signature.get("weights_sha256")
        if not weights:
            return None
        return Identity(
            weights=weights,
            signature=backend.signature,
            context_limit=backend.context_limit,
            parallel_streams=backend.parallel_streams,
            notes=tuple(backend.notes),
        )

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:  # noqa: ARG002 - of any cell
        """Forget everything before the first request of a cell with this signature."""
        self.reset()
        self._signature = signature

    def run(self, requests: Sequence[Request]) -> tuple[Response, ...]:
        """Return the responses, in the order of the requests."""
        tickets = self.submit_all(requests)
        done: dict[int, Response] = {}
        while not done.keys() >= set(tickets):
            done.update(self.step())
        responses = tuple(done.pop(ticket) for ticket in tickets)
        self._finished.update(done)
        return responses

    def submit(self, request: Request) -> int:
        """Queue a request and return its ticket; `step` will return the response under it."""
        return self.submit_all([request])[0]

    def submit_all(
        self,
        requests: Sequence[Request],
        origins: Sequence[Origin] = (),  # noqa: ARG002 - change no response
        *,
        beside: Sequence[Request] = (),
    ) -> list[int]:
        """Queue many requests at once and return a ticket for each.

        `beside`: requests whose responses are known. They are not computed, but the cache is the one for all.
        """
        # They are never scheduled: their keys are below 0.
        keys = count(-len(self._beside) - 1, -1)
        backend, limit = self.backend, self.backend.context_limit
        known = (encoded.job(key, limit) for key, encoded in zip(keys, encode_all(backend, beside), strict=False))
        self._beside += filter(None, known)
        first = self._tickets
        self._tickets += len(requests)
        for ticket, encoded in zip(count(first), encode_all(backend, requests), strict=False):
            job = encoded.job(ticket, limit)
            if job is None:
                # Nothing is computed.
                self._finished[ticket] = Response(finish="overflow")
                continue
            self._replies[ticket] = encoded.reply(backend, job)
            if self._scheduler is not None and self._scheduler.takes(job):
                self._scheduler.submit([job])
            else:
                self._queue.append(job)
        return list(range(first, self._tickets))

    @property
    def idle(self) -> bool:
        """Whether the response to every submitted request has been returned."""
        return not self._replies and not self._finished

    def step(self) -> dict[int, Response]:
        """Compute one batch and return the responses that it completes, by ticket."""
        if self._queue and (self._scheduler is None or self._scheduler.idle):
            self._open()
        if self._scheduler is not None and not self._scheduler.idle:
            self._compute(self._scheduler)
        finished, self._finished = self._finished, {}
        return finished

    def reset(self) -> None:
        """Forget the cell, its requests and cached prefixes: later results do not depend on earlier requests."""
        self.forget()
        self._signature, self.speed = {}, Speed()

    def forget(self) -> None:
        """Forget all requests and cached prefixes."""
        scheduler, self._scheduler = self._scheduler, None
        if scheduler is not None and scheduler.idle:
            self._carry_out(scheduler.leave())
        for reply in self._replies.values():
            reply.close()
        self._queue, self._beside, self._replies, self._finished = [], [], {}, {}

    def provenance(self) -> Provenance:
        """Return the signature of the cell, completed by that of the backend, and the notes on the model."""
        return Provenance(
            signature={**self._signature, "engine": dict(self.backend.signature)},
            notes=(*self.backend.notes, *(() if self._meter is None or self._meter.readable else (NO_COUNTER,))),
        )

    def close(self) -> None:
        """Free the model."""
        self.reset()
        self.backend.close()

    # -- one batch -------------------------------------------------------------------------------

    def _open(self) -> None:
        """Open a cache that suits the queued jobs; jobs that arrive later use it too."""
        cache, jobs, later = cache_for([*self._queue, *self._beside], self.backend)
        self._queue = [job for job in later if job.key >= 0]
        self._beside = [job for job in later if job.key < 0] if self._queue else []
        # If the cache is not opened, by an error or an interrupt, nothing is computed in the old one.
        self._scheduler = None
        now = time.perf_counter()
        self.backend.open(cache.kv_slots, cache.streams)
        self.speed += Speed(open_seconds=time.perf_counter() - now)
        self._scheduler = Scheduler(
            sequences=cache.streams or self.backend.sequences,
            parallel=cache.parallel(self.backend),
            batch=self.backend.batch,
            rows=self.backend.rows,
            kv_slots=cache.kv_slots,
            streams=cache.streams > 0,
        )
        self._scheduler.submit([job for job in jobs if job.key >= 0])

    def _compute(self, scheduler: Scheduler) -> None:
        plan = scheduler.plan()
        self._carry_out(plan.operations)
        if not plan.steps:
            msg = "the scheduler has waiting requests but nothing to compute: a defect of pytest-puma, please report it"
            raise EngineError(msg)
        now = time.perf_counter()
        for key in plan.admitted:
            self._replies[key].begin(now, scheduler.cached(key))
        before = self._meter.joules() if self._meter is not None else 0.0
        logits = self.backend.decode(plan.steps)
        if self._meter is not None:
            self._share(scheduler, plan.steps, self._meter.joules() - before)
        for row, owner in enumerate(scheduler.advance()):
            reply = self._replies[owner.key]
            token = reply.take(logits[row], owner)
            if token is not None:
                scheduler.extend(owner.key, token)
            elif reply.complete:
                scheduler.finish(owner.key)
                self._finish(owner.key)
        for key in scheduler.collect():
            self._finish(key)
        self.speed += _speed(plan.steps, self.backend.copied, time.perf_counter() - now)

    def _share(self, scheduler: Scheduler, steps: Sequence[Step], joules: float) -> None:
        """Share the energy of a batch by computed tokens; that of a fork point belongs to the next batch."""
        share = (joules + self._unshared) / sum(len(step.tokens) for step in steps)
        self._unshared = 0.0
        for step in steps:
            owner = scheduler.sequences.owner(step.sequence)
            if owner is None:
                self._unshared += share * len(step.tokens)
            else:
                self._replies[owner].joules += share * len(step.tokens)

    def _finish(self, ticket: int) -> None:
        self._finished[ticket] = self._replies.pop(ticket).response(time.perf_counter())

    def _carry_out(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            if isinstance(operation, Fork):
                self.backend.fork(operation.source, operation.target)
            else:
                self.backend.drop(operation.sequence)


def _speed(steps: Sequence[Step], copied: int, seconds: float) -> Speed:
    tokens = sum(len(step.tokens) for step in steps)
    if tokens == len(steps):
        return Speed(decode_tokens=tokens, decode_seconds=seconds)
    return Speed(prefill_tokens=tokens - copied, prefill_seconds=seconds)
