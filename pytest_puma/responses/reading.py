"""A responder that reads answers that exist, from a run, a file, or the response store; and the source over that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from pytest_puma.core import (
    ALL_CAPABILITIES,
    Capability,
    CellId,
    DataError,
    Model,
    Origin,
    Provenance,
    Request,
    Response,
    Speed,
)
from pytest_puma.responses.database import ResponseStore, Scope
from pytest_puma.responses.keeping import UNTIMED
from pytest_puma.responses.recipe import changes, request_keys
from pytest_puma.responses.row import KeptResponse, KeptTally


class Source(Protocol):
    """Where responses that exist are found. A `DataError` names what is missing, and what to do."""

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Find the answers to a cell; `signature` is that of today."""

    def find(self, requests: Sequence[Request], origins: Sequence[Origin]) -> Iterable[Response]:
        """Return the response to each request."""

    def provenance(self) -> Provenance:
        """Return the source of the responses of this cell."""

    def close(self) -> None:
        """Free the resources."""


class ReadingResponder:
    """A responder over a source. Nothing is computed, and all responses are ready at once."""

    identity = None
    backend = None
    #: All responses are read, so that nobody counts them.
    kept = 0
    capabilities: frozenset[Capability] = ALL_CAPABILITIES - {"logits"}

    def __init__(self, source: Source) -> None:
        self.source = source
        self._asked = 0
        self._ready: dict[int, Response] = {}

    @property
    def speed(self) -> Speed:
        """Nothing is computed."""
        return Speed()

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Find the answers to a cell."""
        self.reset()
        self.source.begin(cell, signature)

    def submit_all(
        self,
        requests: Sequence[Request],
        origins: Sequence[Origin] = (),
        *,
        beside: Sequence[Request] = (),  # noqa: ARG002 - nothing is computed
    ) -> list[int]:
        """Find the response to each request."""
        tickets = list(range(self._asked, self._asked + len(requests)))
        if not requests:  # the last conversations have their answers
            return tickets
        self._ready |= zip(tickets, self.source.find(requests, origins), strict=True)
        self._asked += len(requests)
        return tickets

    def step(self) -> dict[int, Response]:
        """Return all responses."""
        ready, self._ready = self._ready, {}
        return ready

    def provenance(self) -> Provenance:
        """Return the source of the responses of this cell."""
        return self.source.provenance()

    def forget(self) -> None:
        """Do nothing: there is no cache."""

    def reset(self) -> None:
        """Forget all requests."""
        self._ready = {}

    def close(self) -> None:
        """Close the source."""
        self.reset()
        self.source.close()


class StoreSource:
    """All answers from the response store: no model is loaded, and none need exist.

    Of several engines that answered a cell, the one that was used last and has all its answers gives them. A
    `DataError` names the cell if an answer is missing, and what has changed.
    """

    def __init__(self, store: ResponseStore, model: Model) -> None:
        self._store, self._model = store, model

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Find the engines that answered this cell."""
        self._cell, self._signature = cell, dict(signature)
        self._counts, self._tally = Counter[int](), KeptTally()
        name = "" if self._model.options.strict else str(CellId.parse(cell).without("model"))
        variant = self._model.variant
        answered = self._model.weights, name, (None if variant is None else variant.signature) or None
        self._scopes = [
            scope
            for scope in self._store.scopes()
            if (scope.engine.weights, scope.cell, scope.engine.signature.get("variant")) == answered
        ]
        if not self._scopes:
            self._refuse("no answers are kept of it")

    def find(self, requests: Sequence[Request], origins: Sequence[Origin]) -> list[Response]:
        """Return the response to each request."""
        if any(origin.index == 0 for origin in origins):
            self._counts.clear()
            self._tally.begin_batch()
        keys = request_keys(requests, self._counts, strict=self._model.options.strict)
        kept, together = self._kept(keys)
        missing = sum(key not in kept for key in keys)
        if missing:
            self._refuse(f"{missing} of {len(keys)} answers are not kept")
        for key in keys:
            self._tally.take(kept[key], together=together)
        return [kept[key].response for key in keys]

    def provenance(self) -> Provenance:
        """Return the signature of today with the engine that answered; nothing was timed."""
        kept, engine = self._tally.share(), self._scopes[0].engine
        mixed = (str(kept),) if kept is not None and kept.mixed else ()
        return Provenance(
            signature={**self._signature, "engine": dict(engine.signature)},
            notes=engine.notes,
            warnings=(*mixed, *self._store.take_notes()),
            unmeasured={"clock": UNTIMED},
            kept=kept,
        )

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _kept(self, keys: Sequence[bytes]) -> tuple[Mapping[bytes, KeptResponse], bool]:
        """The responses of one engine, if possible those of one batch, and whether they were computed together.

        The fewest are missing if no engine has all.
        """
        best: Mapping[bytes, KeptResponse] = {}
        for index, scope in enumerate(self._scopes):
            for responses, together in self._candidates(scope, keys):
                if responses.keys() >= set(keys):
                    # The rest of the cell comes from the same engine.
                    self._scopes = self._scopes[index:]
                    return responses, together or self._model.options.strict
                best = max(best, responses, key=len)
        return best, False

    def _candidates(self, scope: Scope, keys: Sequence[bytes]) -> Iterator[tuple[Mapping[bytes, KeptResponse], bool]]:
        """The responses of each batch of these requests that was computed to its end, then those of any batch.

        Each with whether they were computed together.
        """
        for responses in self._store.whole_batches(scope, keys[0]):
            yield responses, True
        yield self._store.find(scope, keys, b""), False

    def _refuse(self, problem: str) -> NoReturn:
        reasons = [
            *(changes(self._scopes[0].parts, self._signature, read=False) if self._scopes else ()),
            *self._store.take_notes(),
        ]
        why = f": {'; '.join(reasons)}" if reasons else ""
        msg = f"--puma-offline: {self._cell}: {problem}{why}; run it without --puma-offline"
        raise DataError(msg)
