"""Equal requests about one reply are asked once, such as those of a metric and of its agreement with people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pytest_puma.core import Generate, Origin, Request, Responder, Response
from pytest_puma.core.responder import ForwardingResponder

#: Requests of one key have one response.
_Key: TypeAlias = tuple[object, ...]


class AskingOnce(ForwardingResponder):
    """A responder over a judge. Sampled texts of equal requests may differ, so that only greedy ones are merged.

    `asked`: the number of requests to the judge since the last `begin`.
    """

    def __init__(self, inner: Responder) -> None:
        super().__init__(inner)
        self._tickets = self.asked = 0
        self._waiting: dict[int, list[int]] = {}

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Begin a cell."""
        self._waiting, self.asked = {}, 0
        super().begin(cell, signature)

    def submit_all(
        self, requests: Sequence[Request], origins: Sequence[Origin] = (), *, beside: Sequence[Request] = ()
    ) -> list[int]:
        """Queue the requests, of equal ones the first."""
        tickets = list(range(self._tickets, self._tickets + len(requests)))
        self._tickets += len(requests)
        merged: dict[_Key, list[int]] = {}
        first: list[int] = []
        for place, (ticket, request, origin) in enumerate(zip(tickets, requests, origins, strict=True)):
            alike = merged.setdefault(_key(ticket, request, origin), [])
            if not alike:
                first.append(place)
            alike.append(ticket)
        asked = super().submit_all([requests[n] for n in first], [origins[n] for n in first], beside=beside)
        self.asked += len(asked)
        self._waiting |= zip(asked, merged.values(), strict=True)
        return tickets

    def step(self) -> dict[int, Response]:
        """Return some responses, each under the tickets of all requests that it answers."""
        return {ticket: response for one, response in super().step().items() for ticket in self._waiting.pop(one)}

    def reset(self) -> None:
        """Forget all requests."""
        self._waiting = {}
        super().reset()


def _key(ticket: int, request: Request, origin: Origin) -> _Key:
    if isinstance(request, Generate) and request.temperature:
        return (ticket,)
    return origin.sample.id, origin.trial.index, request
