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
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pytest_puma.core import (
    CellId,
    Model,
    Origin,
    Prompt,
    Provenance,
    Request,
    Responder,
    Response,
)
from pytest_puma.core.metric import Source
from pytest_puma.core.responder import ForwardingResponder
from pytest_puma.responses.database import EngineRow, ResponseStore, Scope
from pytest_puma.responses.recipe import batch_key, engine_key, request_keys
from pytest_puma.responses.row import KeptResponse, KeptTally

#: The kept responses to read: `mix` all, `fresh` none.
Mode: TypeAlias = Literal["mix", "fresh"]
UNTIMED = "is not measured: some answers are kept from an earlier run; --puma-store=fresh computes all of them again"
UNCOUNTED = "are unknown: what gave the kept answers did not count them"
_OTHERWISE = "answers differ from those kept of the same requests in the same batch: this machine is not deterministic"


@dataclass(slots=True)
class _Batch:
    """`ideal`, `actual`: its keys; `base`: a prompt that the others resemble; `counts`: the equal requests so far.

    `responses`, `computed`: the number of all its responses, and of those that were not kept.
    """

    ideal: bytes
    actual: bytes
    base: Prompt
    counts: Counter[int] = field(default_factory=Counter)
    responses: int = 0
    computed: int = 0


class KeepingResponder(ForwardingResponder):
    """A responder over another one that has an identity, and a store; `model` names the weights there."""

    def __init__(self, responder: Responder, store: ResponseStore, model: Model, *, mode: Mode = "mix") -> None:
        super().__init__(responder)
        self._store, self._model, self._mode = store, model, mode
        self._strict = model.options.strict
        self._tickets = 0
        self._forget()

    def _forget(self) -> None:
        self._ready: dict[int, Response] = {}
        self._waiting: dict[int, tuple[int, bytes, Request]] = {}
        self._scope: Scope | None = None
        self._batch: _Batch | None = None
        self._tally = KeptTally()
        #: Number of computed responses that differ from kept ones of the same batch.
        self._otherwise = 0

    @property
    def kept(self) -> int:
        """Number of responses of this cell that come from the store."""
        return self._tally.kept

    def forget(self) -> None:
        """Forget the cache of prompts: no batch stands before the next one."""
        super().forget()
        self._end_batch()
        self._batch = None

    def reset(self) -> None:
        """Forget all requests, and the cache of their prompts."""
        super().reset()
        self._forget()

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Forget all requests: the next ones belong to this cell."""
        super().begin(cell, signature)
        self._forget()
        identity = self.identity
        if identity is None:
            return
        key = engine_key(identity.signature, context_limit=identity.context_limit)
        row = EngineRow(identity.weights, self._model.name, identity.signature, identity.notes)
        # A strict answer depends on its request alone, so that all cells share them.
        name, parts = ("", {}) if self._strict else (str(CellId.parse(cell).without("model")), signature)
        self._scope = self._store.scope(name, key, row, parts)

    def submit_all(
        self,
        requests: Sequence[Request],
        origins: Sequence[Origin] = (),
        *,
        beside: Sequence[Request] = (),
    ) -> list[int]:
        """Find the kept responses, queue the other requests, and return a ticket for each."""
        tickets = list(range(self._tickets, self._tickets + len(requests)))
        self._tickets += len(requests)
        if requests:
            batch, keys, kept = self._find(requests, origins)
            known, missing = [*beside], []
            for ticket, key, request in zip(tickets, keys, requests, strict=True):
                if key in kept:
                    self._ready[ticket] = kept[key].response
                    self._tally.take(kept[key], together=kept[key].batch == batch.ideal)
                    known.append(request)
                else:
                    missing.append((ticket, key, request))
            if missing:
                waiting = super().submit_all([request for _, _, request in missing], beside=known)
                self._waiting.update(zip(waiting, missing, strict=True))
        return tickets

    def step(self) -> dict[int, Response]:
        """Return the kept responses; if there are none, compute a batch, write its responses, and return them."""
        if self._ready:
            ready, self._ready = self._ready, {}
            return ready
        return self._write([(*self._waiting.pop(ticket), response) for ticket, response in super().step().items()])

    def provenance(self) -> Provenance:
        """Return that of the responder, with the number of kept responses."""
        self._end_batch()
        computed, kept = super().provenance(), self._tally.share()
        unmeasured: dict[Source, str] = {"clock": UNTIMED, "energy": UNTIMED} if kept else {}
        if not self._tally.counted:
            unmeasured["tokens"] = UNCOUNTED
        warnings = [*([str(kept)] if kept is not None and kept.mixed else []), *self._store.take_notes()]
        if self._otherwise:
            warnings.append(f"{self._otherwise} of {self._tally.responses} {_OTHERWISE}")
        return Provenance(
            signature=computed.signature,
            notes=computed.notes,
            warnings=(*computed.warnings, *warnings),
            unmeasured={**computed.unmeasured, **unmeasured},
            kept=kept,
        )

    def close(self) -> None:
        """Free the model and close the store."""
        super().close()
        self._store.close()

    # -- batches ---------------------------------------------------------------------------------

    def _find(
        self, requests: Sequence[Request], origins: Sequence[Origin]
    ) -> tuple[_Batch, list[bytes], Mapping[bytes, KeptResponse]]:
        """Return the batch of requests, begun with the first ones of conversations; their keys; and what is kept."""
        batch = None if any(origin.index == 0 for origin in origins) else self._batch
        counts = Counter[int]() if batch is None else batch.counts
        keys = request_keys(requests, counts, strict=self._strict)
        if batch is not None:
            kept = self._kept(batch, keys)
        else:
            self._end_batch()
            before = self._batch
            ideal = self._key(b"" if before is None else before.ideal, keys, keys)
            self._batch = batch = _Batch(ideal, ideal, requests[0].prompt, counts)
            self._tally.begin_batch()
            kept = self._kept(batch, keys)
            missing = [key for key in keys if key not in kept]
            batch.actual = self._key(b"" if before is None else before.actual, keys, missing)
        batch.responses += len(keys)
        return batch, keys, kept

    def _end_batch(self) -> None:
        """Record a batch that was computed to its end, so that it can be read as a whole."""
        batch, scope = self._batch, self._scope
        if batch is not None and scope is not None and batch.computed and batch.actual == batch.ideal:
            self._store.finish_batch(scope, batch.ideal, batch.responses)

    def _key(self, before: bytes, keys: Sequence[bytes], missing: Sequence[bytes]) -> bytes:
        """The key of a batch; a strict answer has none, nor one of a server, whose batches are unknown."""
        identity = self.identity
        if self._strict or identity is None or "repeatable" not in self.capabilities:
            return b""
        return batch_key(before, keys, missing, identity.signature, parallel_streams=identity.parallel_streams)

    # -- responses -------------------------------------------------------------------------------

    def _kept(self, batch: _Batch, keys: Sequence[bytes]) -> Mapping[bytes, KeptResponse]:
        """The kept responses that may be used."""
        if self._scope is None or self._mode == "fresh":
            return {}
        return self._store.find(self._scope, keys, batch.ideal)

    def _write(self, answered: Sequence[tuple[int, bytes, Request, Response]]) -> dict[int, Response]:
        """Keep computed responses; return them by their tickets."""
        batch = self._batch
        if batch is not None and answered:
            rows = [(key, request, response) for _, key, request, response in answered]
            batch.computed += len(rows)
            self._tally.responses += len(rows)
            self._tally.together &= batch.actual == batch.ideal
            if self._scope is not None:
                self._otherwise += self._differ(self._scope, batch.actual, rows)
                self._store.keep(self._scope, batch.actual, batch.base, rows)
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
    return response.text, response.finish, response.logprobs, response.likelihoods, response.top
