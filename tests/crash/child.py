"""The conftest of a project whose runs are killed: a slow scripted model, and notes of what it computes.

`witness`: a line for each response that a strategy receives. `computed`: a line for each step of an engine that
completes responses, before they are in the store. Both files are appended to, so that a kill takes nothing from them.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_puma.core import Backend, Conversation, Exchange, Model, Origin, Request, Response, Step
from pytest_puma.engine.energy import EnergyMeter
from pytest_puma.engine.engine import Engine
from pytest_puma.evaluation import conversations
from pytest_puma.responses.recipe import request_key
from pytest_puma.session.items import responders
from pytest_puma.testing import ScriptedBackend

#: Maximum milliseconds of a step.
PACE = "PUMA_CRASH_PACE"
LABELS = ("Blocker", "Critical", "Major", "Minor", "Trivial")
_MIN_PACE = 5
_RANDOM = random.Random()  # noqa: S311 - no secret


class SlowBackend(ScriptedBackend):
    """Takes 5 to 40 ms a step, or no time."""

    def decode(self, steps: Sequence[Step]) -> Any:
        """Wait, and answer."""
        pace = int(os.environ.get(PACE, "0"))
        time.sleep(_RANDOM.uniform(min(_MIN_PACE, pace), pace) / 1000)
        return super().decode(steps)


class NotedEngine(Engine):
    """Notes what it computes, and for which cell."""

    cell = ""

    def __init__(self, backend: Backend, meter: EnergyMeter | None = None) -> None:
        super().__init__(backend, meter)
        self._keys: dict[int, str] = {}

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Note the cell."""
        NotedEngine.cell = cell
        super().begin(cell, signature)

    def submit_all(
        self, requests: Sequence[Request], origins: Sequence[Origin] = (), *, beside: Sequence[Request] = ()
    ) -> list[int]:
        """Note the keys of the requests."""
        tickets = super().submit_all(requests, origins, beside=beside)
        self._keys |= {ticket: key_of(request) for ticket, request in zip(tickets, requests, strict=True)}
        return tickets

    def step(self) -> dict[int, Response]:
        """Note the keys of the completed requests."""
        responses = super().step()
        if responses:
            note("computed", " ".join([str(os.getpid()), self.cell, *(self._keys[ticket] for ticket in responses)]))
        return responses


class WitnessedExchange(Exchange):
    """Notes what the strategy receives."""

    __slots__ = ("_asked",)

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(conversation)
        self._asked: tuple[Request, ...] = ()

    def advance(self, responses: Sequence[Response] = ()) -> tuple[Request, ...]:
        """Note the responses, and send them."""
        for request, response in zip(self._asked, responses, strict=True):
            note("witness", f"{NotedEngine.cell} {key_of(request)} {content_of(response)}")
        self._asked = super().advance(responses)
        return self._asked


def pytest_configure() -> None:
    """Put the notes in place."""
    responders.Engine = NotedEngine  # type: ignore[attr-defined]
    conversations.Exchange = WitnessedExchange  # type: ignore[attr-defined]


def pytest_puma_backend(model: Model) -> Backend | None:
    """Return the model; the bundled one is real."""
    note("opened", str(os.getpid()))
    if model.name == "puma-tiny":
        return None
    return SlowBackend(answer, confidence=9.0, parallel=4, digest=sha256(model.name.encode()).hexdigest())


def answer(prompt: str) -> str:
    """Return a priority that depends on the prompt, in the form that it asks for."""
    label = LABELS[sha256(prompt.encode()).digest()[0] % len(LABELS)]
    return f"Answer: {label}" if "Answer:" in prompt else label


def key_of(request: Request) -> str:
    """Return the key of a request, of which there is one in a pass."""
    return request_key(request, 0).hex()


def content_of(response: Response) -> str:
    """Return a digest of what a strategy reads."""
    content = response.text, response.finish, response.logprobs, response.likelihoods
    return sha256(repr(content).encode()).hexdigest()[:16]


def note(name: str, line: str) -> None:
    """Append a line to a file of the project, in one piece."""
    descriptor = os.open(Path.cwd() / f"{name}.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)
