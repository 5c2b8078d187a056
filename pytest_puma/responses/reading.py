"""A responder that reads answers that exist: from the response store, a run, or a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from pytest_puma.core import Capability, Origin, Provenance, Request, Response, Speed


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
    capabilities: frozenset[Capability] = frozenset({"generate", "score", "grammar", "seed", "repeatable"})

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

    def reset(self) -> None:
        """Forget all requests."""
        self._ready = {}

    def close(self) -> None:
        """Close the source."""
        self.reset()
        self.source.close()
