"""Requests that the tests of the engine ask, and what they compare of the responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_puma.core import Backend, Generate, Message, Prompt, Request, Response, Score, Usage
from pytest_puma.engine.engine import Engine

#: Long enough to be a fork point, as the instructions of a cell are.
INSTRUCTIONS = "Severity: Critical, Major, Minor, Trivial or Blocker? The issue is one of these. Answer with one word."
WORDS = ("The", "server", "crashes", "when", "user", "saves", "a file", "button", "wrong color", "13", "AB", "8")


def prompt(text: str, *, system: str = "", **changed: Any) -> Prompt:
    """A user's question, after the instructions where there are any."""
    messages = [Message(role="system", content=system)] if system else []
    return Prompt(messages=(*messages, Message(role="user", content=text)), **changed)


def issues(count: int, *, seed: int = 0, most: int = 40) -> list[Prompt]:
    """Prompts of 3 to `most` random words behind the same instructions, each with its number."""
    random = np.random.default_rng(seed)
    return [
        prompt(f"{' '.join(random.choice(WORDS, random.integers(3, most)))} {number}", system=INSTRUCTIONS)
        for number in range(count)
    ]


def generate(asked: Prompt | str, max_tokens: int = 12, **changed: Any) -> Generate:
    """Greedy unless changed."""
    return Generate(prompt=prompt(asked) if isinstance(asked, str) else asked, max_tokens=max_tokens, **changed)


def score(asked: Prompt | str, *continuations: str) -> Score:
    """The log-probabilities of these answers."""
    return Score(prompt=prompt(asked) if isinstance(asked, str) else asked, continuations=continuations)


def one_at_a_time(backend: Backend, requests: Sequence[Request]) -> list[Response]:
    """The responses to requests that never share a batch or a prefix."""
    engine = Engine(backend)
    responses: list[Response] = []
    for request in requests:
        engine.reset()
        responses += engine.run([request])
    return responses


def timeless(responses: Sequence[Response]) -> list[Response]:
    """All of the responses but how long they took, which differs from run to run."""
    return [replace(each, usage=replace(each.usage, seconds=0.0)) for each in responses]


def cost(responses: Sequence[Response]) -> Usage:
    """What they cost together."""
    return Usage.total(each.usage for each in responses)
