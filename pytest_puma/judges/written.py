"""Verdicts of a judge that cannot score: it writes one of the allowed answers.

A grammar of the answers holds it to them where it follows one. Without a grammar, the answer that its reply states
counts (`replies.verdicts`); a reply that states none is unreadable. Such a verdict has no probabilities: the written
answer has all of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_puma.core import Capability, Generate, Origin, Request, Responder, Response, Score
from pytest_puma.core.conversation import written
from pytest_puma.core.responder import ForwardingResponder
from pytest_puma.replies.answers import strip_reasoning
from pytest_puma.replies.verdicts import stated_verdict


class WrittenVerdicts(ForwardingResponder):
    """A responder over one that cannot score: each `Score` becomes a short `Generate`."""

    def __init__(self, judge: Responder) -> None:
        super().__init__(judge)
        self._answers: dict[int, tuple[str, ...]] = {}

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Those of the judge, and scores."""
        return super().capabilities | {"score"}

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Begin a cell."""
        self._answers = {}
        super().begin(cell, signature)

    def submit_all(
        self, requests: Sequence[Request], origins: Sequence[Origin] = (), *, beside: Sequence[Request] = ()
    ) -> list[int]:
        """Queue the requests; the tickets are those of the judge."""
        tickets = super().submit_all([*map(self._written, requests)], origins, beside=[*map(self._written, beside)])
        scores = zip(tickets, requests, strict=True)
        self._answers |= {ticket: score.continuations for ticket, score in scores if isinstance(score, Score)}
        return tickets

    def step(self) -> dict[int, Response]:
        """Return some responses; those to a score have log-probabilities if the judge wrote an answer."""
        return {
            ticket: _read(response, self._answers.pop(ticket)) if ticket in self._answers else response
            for ticket, response in super().step().items()
        }

    def reset(self) -> None:
        """Forget all requests."""
        self._answers = {}
        super().reset()

    def _written(self, request: Request) -> Request:
        if isinstance(request, Generate):
            return request
        return written(request, grammar="grammar" in super().capabilities)


def _read(response: Response, answers: Sequence[str]) -> Response:
    """The response as that to a score; without log-probabilities if it states none of the answers."""
    stated = stated_verdict(strip_reasoning(response.text), answers)
    logprobs = tuple(0.0 if answer == stated[0] else -math.inf for answer in answers) if stated else ()
    finish = response.finish if response.finish == "overflow" else "scored"
    return Response(text=response.text, logprobs=logprobs, finish=finish, usage=response.usage)
