"""A responder that writes every response to the store at once, and asks another one only for what the store lacks.

It stands between conversations and an engine. A response is in the store before the strategy receives it: a killed run
loses none that anything depends on.

A *batch* begins with the first requests of its conversations and ends with their answers. Each has two keys (see
`recipe`): the *ideal* one of a run that computes everything, and the *actual* one, without the kept responses. They
are equal if nothing is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pytest_puma.core import (
    Backend,
    Capability,
    CellId,
    Identity,
    Model,
    Origin,
    Provenance,
    Request,
    Responder,
    Response,
    Speed,
)
from pytest_puma.responses.batches import Batch, Batches
from pytest_puma.responses.database import EngineRow, ResponseStore, Scope
from pytest_puma.responses.recipe import batch_key, engine_key, request_keys
from pytest_puma.responses.row import KeptResponse

#: The kept responses to read: `mix` all, `fresh` none.
Mode: TypeAlias = Literal["mix", "fresh"]
UNTIMED = "is not measured: some answers are kept from an earlier run; --puma-store=fresh computes all of them again"
_OTHERWISE = "answers differ from those kept of the same requests in the same batch: this machine is not deterministic"


class KeepingResponder:
    """A responder over another one that has an identity, and a store; `model` names the weights there."""

    def __init__(self, responder: Responder, store: ResponseStore, model: Model, *, mode: Mode = "mix") -> None:
        self._responder, self._store, self._model, self._mode = responder, store, model, mode
        self._strict = model.options.strict
        self._cell = Batches()
        self._tickets = 0
        self._ready: dict[int, Response] = {}
        self._waiting: dict[int, tuple[int, bytes, Request]] = {}

    @property
    def identity(self) -> Identity | None:
        """What answers."""
        return self._responder.identity

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do."""
        return self._responder.capabilities

    @property
    def speed(self) -> Speed:
        """Computed tokens and their time."""
        return self._responder.speed

    @property
    def kept(self) -> int:
        """Number of responses of this cell that come from the store."""
        kept = self._cell.kept
        return 0 if kept is None else kept.kept

    @property
    def backend(self) -> Backend | None:
        """The backend that computes."""
        return self._responder.backend

    def reset(self) -> None:
        """Forget all requests, and the cache of their prompts."""
        self._responder.reset()
        self._cell, self._ready, self._waiting = Batches(), {}, {}

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Forget all requests: the next ones belong to this cell."""
        self._responder.begin(cell, signature)
        self._ready, self._waiting = {}, {}
        identity = self._responder.identity
        if identity is None:
            self._cell = Batches()
            return
        key = engine_key(identity.signature, context_limit=identity.context_limit)
        row = EngineRow(identity.weights, self._model.name, identity.signature, identity.notes)
        # A strict answer depends on its request alone, so that all cells share them.
        name, parts = ("", {}) if self._strict else (str(CellId.parse(cell).without("model")), signature)
        self._cell = Batches(self._store.scope(name, key, row, parts))

    def submit_all(
        self,
        requests: Sequence[Request],
        origins: Sequence[Origin] = (),
        *,
        beside: Sequence[Request] = (),
    ) -> list[int]:
        """Find the kept responses, queue the other requests, and return a ticket for each."""
        first = self._tickets
        self._tickets += len(requests)
        tickets = list(range(first, self._tickets))
        if requests:
            self._submit(tickets, requests, origins, beside)
        return tickets

    def step(self) -> dict[int, Response]:
        """Return the kept responses; if there are none, compute a batch, write its responses, and return them."""
        if self._ready:
            ready, self._ready = self._ready, {}
            return ready
        return self._write(
            [(*self._waiting.pop(ticket), response) for ticket, response in self._responder.step().items()]
        )

    def provenance(self) -> Provenance:
        """Return that of the responder, with the number of kept responses."""
        self._end_batch()
        cell, computed = self._cell, self._responder.provenance()
        kept = cell.kept
        warnings = [*([str(kept)] if kept is not None and kept.mixed else []), *self._store.take_notes()]
        if cell.otherwise:
            warnings.append(f"{cell.otherwise} of {cell.responses} {_OTHERWISE}")
        return Provenance(
            signature=computed.signature,
            notes=computed.notes,
            warnings=(*computed.warnings, *warnings),
            unmeasured={"clock": UNTIMED} if kept else {},
            kept=kept,
        )

    def close(self) -> None:
        """Free the model and close the store."""
        self._responder.close()
        self._store.close()

    # -- batches ---------------------------------------------------------------------------------

    def _submit(
        self,
        tickets: Sequence[int],
        requests: Sequence[Request],
        origins: Sequence[Origin],
        beside: Sequence[Request],
    ) -> None:
        current = None if any(origin.index == 0 for origin in origins) else self._cell.current
        counts = Counter[bytes]() if current is None else current.counts
        keys = request_keys(requests, counts, strict=self._strict)
        if current is None:
            self._end_batch()
            current, kept = self._begin_batch(keys, requests, counts)
        else:
            kept = self._find(current, keys)
        missing = []
        known = [*beside]
        for ticket, key, request in zip(tickets, keys, requests, strict=True):
            if key in kept:
                self._ready[ticket] = kept[key].response
                self._cell.take(kept[key], current)
                known.append(request)
            else:
                missing.append((ticket, key, request))
        if missing:
            waiting = self._responder.submit_all([request for _, _, request in missing], beside=known)
            self._waiting.update(zip(waiting, missing, strict=True))

    def _begin_batch(
        self, keys: Sequence[bytes], requests: Sequence[Request], counts: Counter[bytes]
    ) -> tuple[Batch, Mapping[bytes, KeptResponse]]:
        """Open a batch; return it with the kept responses to its first requests."""
        before = self._cell.current
        ideal, actual = (b"", b"") if before is None else (before.ideal, before.actual)
        ideal = self._key(ideal, keys, keys)
        current = Batch(ideal, ideal, requests[0].prompt, counts)
        kept = self._find(current, keys)
        current.actual = self._key(actual, keys, [key for key in keys if key not in kept])
        self._cell.current = current
        return current, kept

    def _end_batch(self) -> None:
        """Record a batch that was computed to its end, so that it can be read as a whole."""
        current, scope = self._cell.current, self._cell.scope
        if current is not None and scope is not None and current.computed and current.actual == current.ideal:
            self._store.finish_batch(scope, current.ideal, current.computed + current.kept)

    def _key(self, before: bytes, keys: Sequence[bytes], missing: Sequence[bytes]) -> bytes:
        """The key of a batch; a strict answer has none."""
        identity = self._responder.identity
        if self._strict or identity is None:
            return b""
        return batch_key(before, keys, missing, identity.signature, parallel_streams=identity.parallel_streams)

    # -- responses -------------------------------------------------------------------------------

    def _find(self, current: Batch, keys: Sequence[bytes]) -> Mapping[bytes, KeptResponse]:
        """The kept responses that may be used."""
        if self._cell.scope is None or self._mode == "fresh":
            return {}
        return self._store.find(self._cell.scope, keys, current.ideal)

    def _write(self, answered: Sequence[tuple[int, bytes, Request, Response]]) -> dict[int, Response]:
        """Keep computed responses; return them by their tickets."""
        cell, current = self._cell, self._cell.current
        if current is not None and answered:
            rows = [(key, request, response) for _, key, request, response in answered]
            cell.compute(len(rows), current)
            if cell.scope is not None:
                cell.otherwise += self._differ(cell.scope, current.actual, rows)
                self._store.keep(cell.scope, current.actual, current.base, rows)
        return {ticket: response for ticket, _, _, response in answered}

    def _differ(self, scope: Scope, batch: bytes, rows: Sequence[tuple[bytes, Request, Response]]) -> int:
        """The number of responses that differ from those kept of the same batch, where all is computed again."""
        if self._mode == "mix":
            return 0
        kept = self._store.find(scope, [key for key, _, _ in rows], batch)
        return sum(
            key in kept and kept[key].batch == batch and _content(kept[key].response) != _content(response)
            for key, _, response in rows
        )


def _content(response: Response) -> tuple[object, ...]:
    """The part of a response that does not depend on the clock."""
    return response.text, response.finish, response.logprobs, response.likelihoods
