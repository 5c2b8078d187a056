"""A server as a responder: it writes texts, several at once. Nobody has verified which weights answer."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Event
from typing import Any, TypeAlias

from pytest_puma.core import (
    Capability,
    Identity,
    NotRunError,
    Origin,
    Provenance,
    Request,
    Response,
    Score,
    Speed,
)
from pytest_puma.core.metric import Source
from pytest_puma.core.model import Endpoint
from pytest_puma.core.responder import NOT_VERIFIED
from pytest_puma.phrases import counted, named
from pytest_puma.servers.chat import Reply, body_of, is_overflow, read_reply
from pytest_puma.servers.client import Client, ServerError
from pytest_puma.servers.crowd import Crowd, Round
from pytest_puma.servers.kind import Served, look
from pytest_puma.servers.verdict import SCHEMA, read_verdict, verdict_body

#: A request and the body that asks it.
Question: TypeAlias = tuple[Request, dict[str, Any]]
_SENT = "it takes no top_k, min_p and repetition penalty"
_SCHEMALESS = "the server refuses a JSON schema, so that its verdicts are read from free replies"
#: Statuses of a server that does not take a field.
_REFUSED = frozenset({400, 404, 422, 501})
_NO_USAGE = "are unknown: the server does not count them"


class ServerResponder:
    """A responder over a server. `judges`: it scores verdicts. `client`: another one than that of the endpoint."""

    backend = None
    #: A server computes all responses.
    kept = 0

    def __init__(self, endpoint: Endpoint, client: Client | None = None, *, judges: bool = False) -> None:
        key = os.environ.get(endpoint.key, "").strip()
        self._client = client or Client(endpoint.url, key=key, parallel=endpoint.parallel)
        self._endpoint = endpoint
        served = look(self._client, endpoint)
        self._kind = served.kind
        self.identity = _identity(endpoint, served, by_schema=judges and not self._kind.grammar)
        more: dict[Capability, bool] = {"grammar": self._kind.grammar, "score": judges}
        able: set[Capability] = {name for name, has in more.items() if has}
        self.capabilities: frozenset[Capability] = frozenset({"generate", "seed", *able})
        self._crowd = Crowd(self._ask, endpoint.parallel)
        self._tickets = 0
        #: Tokens alone: the batches and their time are those of the server.
        self.speed = Speed()
        self._round: Round[Question, Reply] = Round()
        self._fault: Exception | None = None
        self._signature: Mapping[str, Any] = {}
        self._counts: Counter[str] = Counter()
        self._answered_by: dict[tuple[str, str], None] = {}
        #: Whether the server refused a JSON schema, and answered without it.
        self._schemaless = False

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:  # noqa: ARG002 - of any cell
        """Forget all requests: the next ones belong to a cell with this signature."""
        self.reset()
        self._signature = signature

    def submit_all(
        self,
        requests: Sequence[Request],
        origins: Sequence[Origin] = (),  # noqa: ARG002 - change no response
        *,
        beside: Sequence[Request] = (),  # noqa: ARG002 - the batches are those of the server
    ) -> list[int]:
        """Queue requests and return a ticket for each; a `NotRunError` if the server cannot answer one."""
        bodies = [self._question(request) for request in requests]
        tickets = list(range(self._tickets, self._tickets + len(requests)))
        self._tickets += len(requests)
        for ticket, question in zip(tickets, bodies, strict=True):
            self._crowd.put(self._round, ticket, question)
        return tickets

    def step(self) -> dict[int, Response]:
        """Wait for a response; return it and those that came with it.

        After a fault, the others are not sent any more, but those on their way are waited for: then it is raised.
        """
        while self._round.open:
            responses = {}
            for ticket, came in self._round.take():
                if isinstance(came, Exception):
                    self._fault = self._fault or came
                else:
                    responses[ticket] = self._count(came)
            if responses:
                return responses
        if self._fault is not None:
            raise self._fault
        return {}

    def provenance(self) -> Provenance:
        """Return the signature of the cell with that of the server, and what was unusual."""
        unmeasured: dict[Source, str] = {"tokens": _NO_USAGE} if self._counts["unmeasured"] else {}
        return Provenance(
            signature={**self._signature, "engine": dict(self.identity.signature)},
            notes=self.identity.notes,
            warnings=tuple(self._warnings()),
            unmeasured=unmeasured,
        )

    def forget(self) -> None:
        """Do nothing: the cache is that of the server."""

    def reset(self) -> None:
        """Forget all requests; those on their way are not waited for."""
        self._round.stopped.set()
        self._round, self._fault, self._signature = Round(), None, {}
        self._counts, self._answered_by, self.speed = Counter(), {}, Speed()
        self._client.again.clear()

    def close(self) -> None:
        """End the threads and the connections."""
        self.reset()
        self._crowd.close()
        self._client.close()

    def _question(self, request: Request) -> Question:
        if isinstance(request, Score):
            if "score" in self.capabilities:
                return request, verdict_body(request, self._endpoint.model, self._kind)
            msg = f"a server ({self._kind.name}) gives no log-probabilities of texts"
            raise NotRunError(msg)
        return request, body_of(request, self._endpoint.model, self._kind)

    def _ask(self, question: Question, stopped: Event) -> Reply:
        """Ask the server, in a thread of its own."""
        request, body = question
        started = time.perf_counter()
        try:
            content = self._content(body, stopped)
        except ServerError as error:
            if not is_overflow(str(error), error.status):
                raise
            return Reply(response=Response(finish="overflow"))
        seconds = time.perf_counter() - started
        if isinstance(request, Score):
            return read_verdict(content, request, self._kind, seconds)
        return read_reply(content, request, seconds)

    def _content(self, body: dict[str, Any], stopped: Event) -> Any:
        """The answer to a body; without its JSON schema if the server refuses that."""
        plain = {name: value for name, value in body.items() if name != SCHEMA}
        if not self._schemaless:
            try:
                return self._client.ask("/chat/completions", body, stopped=stopped)
            except ServerError as error:
                if plain == body or error.status not in _REFUSED or is_overflow(str(error), error.status):
                    raise
        content = self._client.ask("/chat/completions", plain, stopped=stopped)
        self._schemaless = self._schemaless or plain != body
        return content

    def _count(self, reply: Reply) -> Response:
        """Count what a cell should report, and return the response."""
        usage = reply.response.usage
        self.speed += Speed(
            prefill_tokens=usage.prompt_tokens - usage.cached_tokens, decode_tokens=usage.decoded_tokens
        )
        self._counts["unmeasured"] += not reply.measured
        self._counts["withheld"] += reply.withheld
        self._answered_by[reply.by] = None
        return reply.response

    def _warnings(self) -> list[str]:
        """What was unusual about the answers of this cell."""
        again, withheld = self._client.again, self._counts["withheld"]
        reasons = named((f"{reason} ({count})" for reason, count in again.most_common()), separator="; ")
        names = [" ".join(filter(None, by)) for by in self._answered_by if any(by)]
        return [
            *([f"{counted(again.total(), 'request')} had to be sent again: {reasons}"] if again else []),
            *([f"the server withheld {counted(withheld, 'answer')} by its filter of contents"] if withheld else []),
            *([_SCHEMALESS] if self._schemaless else []),
            *([f"several models or versions answered: {named(names, 3)}"] if len(names) > 1 else []),
        ]


def _identity(endpoint: Endpoint, served: Served, *, by_schema: bool) -> Identity:
    """What answers, as far as a server can be believed. Its `weights` tell apart what calls itself by one name."""
    kind, url = served.kind, endpoint.url
    who = json.dumps([url, endpoint.model, served.facts])
    mark = f"the answers are those of the server {url}; its weights are {NOT_VERIFIED}"
    return Identity(
        weights=hashlib.sha256(who.encode()).hexdigest(),
        signature={
            "server": url,
            "server_model": endpoint.model,
            "server_kind": kind.name,
            "server_facts": served.facts,
            **({"server_weights": served.weights} if served.weights else {}),
            "sent": json.dumps(dict(kind.sends), sort_keys=True),
            **({"verdicts": "json_schema"} if by_schema else {}),
            "weights": NOT_VERIFIED,
        },
        notes=(mark, *([] if kind.samples else [f"the server ({kind.name}) may sample in ways of its own: {_SENT}"])),
    )
