"""All answers from the response store: no model is loaded, and none need exist.

Of several engines that answered a cell, the one that was used last and has all its answers gives them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from pytest_puma.core import CellId, DataError, Model, Origin, Provenance, Request, Response, StoreShare
from pytest_puma.responses.batches import newest_first
from pytest_puma.responses.changes import changes
from pytest_puma.responses.database import ResponseStore, Scope
from pytest_puma.responses.keeping import UNTIMED
from pytest_puma.responses.recipe import request_keys
from pytest_puma.responses.row import KeptResponse


class StoreSource:
    """The answers that the store has; a `DataError` names the cell if one is missing, and what has changed."""

    def __init__(self, store: ResponseStore, model: Model) -> None:
        self._store, self._model = store, model
        self.begin_at("", {}, [])

    def begin_at(self, cell: str, signature: Mapping[str, Any], scopes: Sequence[Scope]) -> None:
        """Forget what was taken; the next answers are those of a cell by one of these engines."""
        self._cell, self._signature, self._scopes = cell, dict(signature), list(scopes)
        self._counts = Counter[bytes]()
        self._taken: list[KeptResponse] = []
        self._together, self._largest = True, 0
        self._batches = set[bytes]()

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Find the engines that answered this cell."""
        name = "" if self._model.options.strict else str(CellId.parse(cell).without("model"))
        answered = self._model.weights, name
        scopes = [scope for scope in self._store.scopes() if (scope.engine.weights, scope.cell) == answered]
        self.begin_at(cell, signature, scopes)
        if not scopes:
            self._refuse("no answers are kept of it")

    def find(self, requests: Sequence[Request], origins: Sequence[Origin]) -> list[Response]:
        """Return the response to each request."""
        if any(origin.index == 0 for origin in origins):
            self._counts, self._batches = Counter(), set()
        keys = request_keys(requests, self._counts, strict=self._model.options.strict)
        kept = self._kept(keys)
        missing = sum(key not in kept for key in keys)
        if missing:
            self._refuse(f"{missing} of {len(keys)} answers are not kept")
        taken = [kept[key] for key in keys]
        self._taken += taken
        self._batches |= {answer.batch for answer in taken}
        self._largest = max(self._largest, len(self._batches))
        return [answer.response for answer in taken]

    def provenance(self) -> Provenance:
        """Return the signature of today with the engine that answered; nothing was timed."""
        answers = len(self._taken)
        kept = StoreShare(
            responses=answers,
            kept=answers,
            together=self._model.options.strict or self._together,
            batches=self._largest,
            runs=newest_first({answer.run for answer in self._taken}),
        )
        return Provenance(
            signature={**self._signature, "engine": dict(self._scopes[0].engine.signature)},
            notes=self._scopes[0].engine.notes,
            warnings=(*((str(kept),) if kept.mixed else ()), *self._store.take_notes()),
            unmeasured={"clock": UNTIMED},
            kept=kept,
        )

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _kept(self, keys: Sequence[bytes]) -> Mapping[bytes, KeptResponse]:
        """The responses of one engine, if possible those of one batch; the fewest missing if no engine has all."""
        best: Mapping[bytes, KeptResponse] = {}
        for index, scope in enumerate(self._scopes):
            for responses, together in self._candidates(scope, keys):
                if responses.keys() >= set(keys):
                    # The rest of the cell comes from the same engine.
                    self._scopes = self._scopes[index:]
                    self._together &= together
                    return responses
                best = max(best, responses, key=len)
        return best

    def _candidates(self, scope: Scope, keys: Sequence[bytes]) -> Iterator[tuple[Mapping[bytes, KeptResponse], bool]]:
        """The responses of each batch that was computed to its end, the newest first, then those of any batch.

        Each with whether they were computed together.
        """
        for batch in self._store.whole_batches(scope):
            yield self._store.whole_batch(scope, batch) or {}, True
        yield self._store.find(scope, keys, b""), False

    def _refuse(self, problem: str) -> NoReturn:
        reasons = [
            *(changes(self._scopes[0].parts, self._signature, read=False) if self._scopes else ()),
            *self._store.take_notes(),
        ]
        why = f": {'; '.join(reasons)}" if reasons else ""
        msg = f"--puma-offline: {self._cell}: {problem}{why}; run it without --puma-offline"
        raise DataError(msg)
