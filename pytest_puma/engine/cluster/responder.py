"""An engine on a worker of a cluster as a responder: requests travel with the next step, responses come with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_puma.codec.exchange import requests_bytes, responses_from
from pytest_puma.core import ALL_CAPABILITIES, Identity, Model, Origin, Provenance, Request, Response, Speed
from pytest_puma.engine.cluster.cluster import Cluster, Held
from pytest_puma.errors import LostError


class ClusterResponder:
    """A responder over an actor. A lost actor is an error of the cell; the next `begin` opens another one."""

    backend = None
    #: An engine computes all responses.
    kept = 0
    #: The logits of a step stay on the worker.
    capabilities = ALL_CAPABILITIES - {"logits"}

    def __init__(self, cluster: Cluster, model: Model, *, threads: int | None = None) -> None:
        self._cluster, self._model, self._threads = cluster, model, threads
        self._held: Held | None = None
        self._submitted: list[tuple[bytes, bytes]] = []
        self._waiting: set[int] = set()
        #: Whether the engine has to forget all earlier requests.
        self._anew = True
        self._signature: Mapping[str, Any] = {}
        #: That of the cell, and that of its earlier blocks.
        self.speed = self._earlier = Speed()
        self._cell = ""
        #: The loss of an engine, and that before the attempt at the cell that runs.
        self._lost: tuple[str, ...] = ()
        self._warnings: tuple[str, ...] = ()
        self.identity = self._open()

    def _open(self) -> Identity:
        """Load the model on a worker, and on another one if that is lost meanwhile."""
        self._tickets = 0
        try:
            self._held, identity = self._cluster.open(self._model, self._threads, again=bool(self._lost))
        except LostError:
            self._held, identity = self._cluster.open(self._model, self._threads, again=True)
        return identity

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Forget everything before the first request of a cell with this signature."""
        if self._held is None:
            self.identity = self._open()
        self.reset()
        self._signature = signature
        self._warnings = self._lost if cell == self._cell else ()
        self._cell, self._lost = cell, ()

    def submit_all(
        self,
        requests: Sequence[Request],
        origins: Sequence[Origin] = (),  # noqa: ARG002 - change no response
        *,
        beside: Sequence[Request] = (),
    ) -> list[int]:
        """Queue requests for the next step, and return a ticket for each, as the engine will number them."""
        tickets = list(range(self._tickets, self._tickets + len(requests)))
        self._tickets += len(requests)
        if requests or beside:
            self._submitted.append((requests_bytes(requests), requests_bytes(beside)))
            self._waiting |= set(tickets)
        return tickets

    def step(self) -> dict[int, Response]:
        """Let the engine compute until some responses are complete; return them."""
        if not self._waiting or self._held is None:
            return {}
        held, self._held = self._held, None
        try:
            answer, computed = self._cluster.call(held, "step", self._submitted, anew=self._anew)
        except LostError as error:
            self._lost = (f"{error}; the cell ran again",)
            self._cluster.release(held, wait=False)
            raise
        except Exception:  # of the engine, which goes on with the next cell
            self._held = held
            raise
        self._held, self._anew, self.speed = held, False, self._earlier + computed
        self._submitted.clear()
        responses = responses_from(answer)
        self._waiting -= responses.keys()
        return responses

    def provenance(self) -> Provenance:
        """Return the signature of the cell, completed by that of the engine, and the notes on the model."""
        signature = {**self._signature, "engine": dict(self.identity.signature)}
        return Provenance(signature=signature, notes=self.identity.notes, warnings=self._warnings)

    def forget(self) -> None:
        """Forget all requests, and with the next step the cache of their prompts."""
        self._submitted.clear()
        self._waiting.clear()
        self._anew, self._earlier = True, self.speed

    def reset(self) -> None:
        """Forget the cell, too."""
        self._signature, self.speed = {}, Speed()
        self.forget()

    def close(self) -> None:
        """Free the model. May be called twice."""
        held, self._held = self._held, None
        if held is not None:
            self._cluster.release(held, wait=True)
