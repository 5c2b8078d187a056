"""All answers from the response store: no model is loaded, and none need exist.

Of several engines that answered a cell, the one that was used last and has all its answers gives them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from pytest_puma.core import CellId, DataError, Model, Origin, Provenance, Request, Response
from pytest_puma.responses.database import ResponseStore, Scope
from pytest_puma.responses.keeping import UNTIMED
from pytest_puma.responses.recipe import changes, request_keys
from pytest_puma.responses.row import KeptResponse, KeptTally


class StoreSource:
    """The answers that the store has; a `DataError` names the cell if one is missing, and what has changed."""

    def __init__(self, store: ResponseStore, model: Model) -> None:
        self._store, self._model = store, model

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Find the engines that answered this cell."""
        self._cell, self._signature = cell, dict(signature)
        self._counts, self._tally = Counter[bytes](), KeptTally()
        name = "" if self._model.options.strict else str(CellId.parse(cell).without("model"))
        answered = self._model.weights, name
        self._scopes = [scope for scope in self._store.scopes() if (scope.engine.weights, scope.cell) == answered]
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
        """The responses of each batch that was computed to its end, the newest first, then those of any batch.

        Each with whether they were computed together.
        """
        for responses in self._store.whole_batches(scope):
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
