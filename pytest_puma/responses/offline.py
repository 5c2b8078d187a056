"""All answers from the response store: no model is loaded, and none need exist.

Of several engines that answered a cell, the one that was used last and has all its answers gives them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from pytest_puma.baseline import TIMED
from pytest_puma.core import CellId, DataError, Kept, Model, Origin, Provenance, Request
from pytest_puma.responses.changes import changes
from pytest_puma.responses.database import ResponseStore, Scope
from pytest_puma.responses.keeping import UNTIMED
from pytest_puma.responses.passes import newest_first
from pytest_puma.responses.reader import Reader
from pytest_puma.responses.recipe import request_keys
from pytest_puma.responses.row import KeptResponse


class OfflineAnswers(Reader):
    """A responder that reads the store; a `DataError` names the cell if an answer is missing, and what has changed."""

    def __init__(self, store: ResponseStore, model: Model, *, whole: bool = False) -> None:
        super().__init__()
        self._store, self._model = store, model
        # Any mixture of strict answers is one run's.
        self._whole = whole and not model.options.strict
        self._cell, self._signature = "", dict[str, Any]()
        self._scopes: list[Scope] = []
        self._counts = Counter[bytes]()
        self._taken: list[KeptResponse] = []
        self._together, self._batches = True, 0
        self._companies = set[bytes]()

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Find the engines that answered this cell."""
        self.reset()
        self._cell, self._signature = cell, dict(signature)
        strict = self._model.options.strict
        name = "" if strict else str(CellId.parse(cell).without("model"))
        self._scopes = [
            scope for scope in self._store.scopes() if (scope.engine.weights, scope.cell) == (self._model.weights, name)
        ]
        if not self._scopes:
            self._refuse("no answers are kept of it")

    def submit_all(self, requests: Sequence[Request], origins: Sequence[Origin] = ()) -> list[int]:
        """Find the response to each request."""
        if any(origin.index == 0 for origin in origins):
            self._counts, self._companies = Counter(), set()
        keys = request_keys(requests, self._counts, strict=self._model.options.strict)
        kept = self._find(keys)
        missing = sum(key not in kept for key in keys)
        if missing and self._whole:
            self._refuse(f"no batch with all {len(keys)} answers is kept to its end")
        if missing:
            self._refuse(f"{missing} of {len(keys)} answers are not kept")
        self._companies |= {kept[key].company for key in keys}
        self._batches = max(self._batches, len(self._companies))
        first = len(self._taken)
        self._taken += [kept[key] for key in keys]
        self._ready |= {ticket: self._taken[ticket].response for ticket in range(first, len(self._taken))}
        return list(range(first, len(self._taken)))

    def provenance(self) -> Provenance:
        """Return the signature of today with the engine that answered; nothing was timed."""
        runs = newest_first({each.run for each in self._taken})
        together = self._model.options.strict or self._together
        answers = len(self._taken)
        kept = Kept(responses=answers, kept=answers, together=together, batches=self._batches, runs=runs)
        return Provenance(
            signature={**self._signature, "engine": dict(self._scopes[0].engine.signature)},
            notes=self._scopes[0].engine.notes,
            warnings=(*((str(kept),) if kept.mixed else ()), *self._store.take_notes()),
            unmeasured=dict.fromkeys(TIMED, UNTIMED),
            kept=kept,
        )

    def reset(self) -> None:
        """Forget the cell."""
        super().reset()
        self._scopes, self._counts, self._taken = [], Counter(), []
        self._together, self._batches, self._companies = True, 0, set()

    def close(self) -> None:
        """Forget the cell, and close the store."""
        super().close()
        self._store.close()

    def _find(self, keys: Sequence[bytes]) -> Mapping[bytes, KeptResponse]:
        """The responses of one engine, if possible those of one batch; the fewest missing if no engine has all."""
        best: Mapping[bytes, KeptResponse] = {}
        for place, scope in enumerate(self._scopes):
            for responses, together in self._sources(scope, keys):
                if responses.keys() >= set(keys):
                    # The rest of the cell comes from the same engine.
                    self._scopes = self._scopes[place:]
                    self._together &= together
                    return responses
                best = max(best, responses, key=len)
        return best

    def _sources(self, scope: Scope, keys: Sequence[bytes]) -> Iterator[tuple[Mapping[bytes, KeptResponse], bool]]:
        """The responses of each batch that was computed to its end, the newest first, then those of any batch.

        Each with whether they were computed together.
        """
        for company in self._store.passes(scope):
            yield self._store.whole_pass(scope, company) or {}, True
        if not self._whole:
            yield self._store.find(scope, keys, b""), False

    def _refuse(self, problem: str) -> NoReturn:
        reasons = [
            *(changes(self._scopes[0].parts, self._signature, read=False) if self._scopes else ()),
            *self._store.take_notes(),
        ]
        why = f": {'; '.join(reasons)}" if reasons else ""
        msg = f"--puma-offline: {self._cell}: {problem}{why}; run it without --puma-offline"
        raise DataError(msg)
