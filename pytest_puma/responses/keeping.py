"""An engine that writes every response to the store at once, and computes only those that the store does not have.

It stands between conversations and an engine. A response is in the store before the strategy receives it: a killed run
loses none that anything depends on.

A *pass* begins with the first requests of its conversations and ends with their answers. Each has two companies (see
`recipe`): the *ideal* one of a run that computes everything, and the *actual* one, without the kept responses. They
are equal if nothing is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pytest_puma.baseline import TIMED
from pytest_puma.core import (
    Backend,
    CellId,
    DataError,
    Model,
    Origin,
    Prompt,
    Provenance,
    Request,
    Response,
    Speed,
)
from pytest_puma.engine.engine import Engine
from pytest_puma.responses.database import EngineRow, ResponseStore, Scope
from pytest_puma.responses.passes import Pass, Passes
from pytest_puma.responses.recipe import company_key, engine_key, request_keys
from pytest_puma.responses.row import KeptResponse

#: The kept responses to read: `mix` all, `whole` those of passes that are kept to their end, `fresh` none.
Mode: TypeAlias = Literal["mix", "whole", "fresh"]
UNTIMED = "is not measured: some answers are kept from an earlier run; --puma-store=fresh computes all of them again"
_OTHERWISE = "answers differ from those kept of the same requests in the same batch: this machine is not deterministic"


class KeepingEngine:
    """A responder over an engine and a store; `model` names the engine's weights there."""

    def __init__(self, engine: Engine, store: ResponseStore, model: Model, *, mode: Mode = "mix") -> None:
        self._engine, self._store, self._model, self._mode = engine, store, model, mode
        self._strict = model.options.strict
        self._cell = Passes()
        self._tickets = 0
        self._ready: dict[int, Response] = {}
        self._waiting: dict[int, tuple[int, bytes, Request]] = {}

    @property
    def speed(self) -> Speed:
        """Computed tokens and their time."""
        return self._engine.speed

    @property
    def kept(self) -> int:
        """Number of responses of this cell that come from the store."""
        kept = self._cell.kept
        return 0 if kept is None else kept.kept

    @property
    def backend(self) -> Backend:
        """The backend that computes."""
        return self._engine.backend

    def reset(self) -> None:
        """Forget all requests, and the cache of their prompts."""
        self._engine.reset()
        self._cell, self._ready, self._waiting = Passes(), {}, {}

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Forget all requests: the next ones belong to this cell."""
        self._engine.begin(cell, signature)
        self._ready, self._waiting = {}, {}
        backend = self._engine.backend
        key = engine_key(backend.signature, context_limit=backend.context_limit)
        row = EngineRow(backend.signature["weights_sha256"], self._model.name, backend.signature, tuple(backend.notes))
        # A strict answer depends on its request alone, so that all cells share them.
        name, parts = ("", {}) if self._strict else (str(CellId.parse(cell).without("model")), signature)
        self._cell = Passes(self._store.scope(name, key, row, parts))

    def submit_all(self, requests: Sequence[Request], origins: Sequence[Origin] = ()) -> list[int]:
        """Find the kept responses, queue the other requests, and return a ticket for each."""
        first = self._tickets
        self._tickets += len(requests)
        tickets = list(range(first, self._tickets))
        if requests:
            self._submit(tickets, requests, origins)
        return tickets

    def step(self) -> dict[int, Response]:
        """Return the kept responses; if there are none, compute a batch, write its responses, and return them."""
        if self._ready:
            ready, self._ready = self._ready, {}
            return ready
        return self._write([(*self._waiting.pop(own), response) for own, response in self._engine.step().items()])

    def provenance(self) -> Provenance:
        """Return that of the engine, with the number of kept responses."""
        self._end_pass()
        cell, computed = self._cell, self._engine.provenance()
        kept = cell.kept
        warnings = [*([str(kept)] if kept is not None and kept.mixed else []), *self._store.take_notes()]
        if cell.otherwise:
            warnings.append(f"{cell.otherwise} of {cell.responses} {_OTHERWISE}")
        return Provenance(
            signature=computed.signature,
            notes=computed.notes,
            warnings=(*computed.warnings, *warnings),
            unmeasured=dict.fromkeys(TIMED, UNTIMED) if kept else {},
            kept=kept,
        )

    def close(self) -> None:
        """Free the model and close the store."""
        self._engine.close()
        self._store.close()

    # -- passes ----------------------------------------------------------------------------------

    def _submit(self, tickets: Sequence[int], requests: Sequence[Request], origins: Sequence[Origin]) -> None:
        current = None if any(origin.index == 0 for origin in origins) else self._cell.current
        counts = Counter[bytes]() if current is None else current.counts
        keys = request_keys(requests, counts, strict=self._strict)
        if current is None:
            self._end_pass()
            current, kept = self._begin_pass(keys, requests[0].prompt, counts)
        else:
            kept = self._find(current, keys)
        missing = []
        for ticket, key, request in zip(tickets, keys, requests, strict=True):
            if key in kept:
                self._ready[ticket] = kept[key].response
                self._cell.take(kept[key], current)
            else:
                missing.append((ticket, key, request))
        self._compute(missing, beside=[each for key, each in zip(keys, requests, strict=True) if key in kept])

    def _begin_pass(
        self, keys: Sequence[bytes], base: Prompt, counts: Counter[bytes]
    ) -> tuple[Pass, Mapping[bytes, KeptResponse]]:
        """Open a pass; return it with the kept responses to its first requests."""
        before = self._cell.current
        ideal, actual = (b"", b"") if before is None else (before.ideal, before.actual)
        if self._whole:
            # Passes that leave nothing behind can be replayed one by one.
            self._engine.forget()
            ideal = actual = b""
        ideal = self._company(ideal, keys, keys)
        replayed = self._store.whole_pass(self._cell.scope, ideal) if self._whole and self._cell.scope else None
        current = Pass(ideal, ideal, base, replayed, counts)
        kept = self._find(current, keys)
        current.actual = self._company(actual, keys, [key for key in keys if key not in kept])
        self._cell.current = current
        return current, kept

    def _end_pass(self) -> None:
        """Record a pass that was computed to its end, so that it can be replayed as a whole."""
        current, scope = self._cell.current, self._cell.scope
        if current is not None and scope is not None and current.computed and current.actual == current.ideal:
            self._store.finish_pass(scope, current.ideal, current.computed + current.kept)

    def _company(self, before: bytes, keys: Sequence[bytes], missing: Sequence[bytes]) -> bytes:
        """The company of a pass; a strict answer has none."""
        if self._strict:
            return b""
        backend = self._engine.backend
        return company_key(before, keys, missing, backend.signature, parallel_streams=backend.parallel_streams)

    @property
    def _whole(self) -> bool:
        """Whether passes are replayed or computed as a whole; any mixture of strict answers is one run's."""
        return self._mode == "whole" and not self._strict

    # -- responses -------------------------------------------------------------------------------

    def _find(self, current: Pass, keys: Sequence[bytes]) -> Mapping[bytes, KeptResponse]:
        """The kept responses that may be used."""
        if self._cell.scope is None or self._mode == "fresh":
            return {}
        if not self._whole:
            return self._store.find(self._cell.scope, keys, current.ideal)
        if current.replayed is None:
            return {}
        if not current.replayed.keys() >= set(keys):
            msg = (
                "--puma-store=whole: the kept responses lead to other requests than before, as after a change of the "
                "strategy; expected all of a batch; run once with --puma-store=fresh"
            )
            raise DataError(msg)
        return current.replayed

    def _compute(self, missing: Sequence[tuple[int, bytes, Request]], beside: Sequence[Request]) -> None:
        """Queue requests; `beside`: those that would be in the same batch if they were not kept."""
        if not missing:
            return
        own = self._engine.submit_all([request for _, _, request in missing], beside=beside)
        self._waiting.update(zip(own, missing, strict=True))

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

    def _differ(self, scope: Scope, company: bytes, rows: Sequence[tuple[bytes, Request, Response]]) -> int:
        """The number of responses that differ from those kept of the same company, where all is computed again."""
        if self._mode == "mix":
            return 0
        kept = self._store.find(scope, [key for key, _, _ in rows], company)
        return sum(
            key in kept and kept[key].company == company and _content(kept[key].response) != _content(response)
            for key, _, response in rows
        )


def _content(response: Response) -> tuple[object, ...]:
    """The part of a response that does not depend on the clock."""
    return response.text, response.finish, response.logprobs, response.likelihoods
