"""Requests for the tests of the engine, and the comparable parts of responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_puma.core import Backend, Generate, Message, Prompt, Request, Response, Score, Usage
from pytest_puma.engine.engine import Engine

#: Long enough to be a fork point, like the instructions of a cell.
INSTRUCTIONS = "Severity: Critical, Major, Minor, Trivial or Blocker? The issue is one of these. Answer with one word."
WORDS = ("The", "server", "crashes", "when", "user", "saves", "a file", "button", "wrong color", "13", "AB", "8")


def prompt(text: str, *, system: str = "", **changed: Any) -> Prompt:
    """A user's question, after the instructions if there are any."""
    messages = [Message(role="system", content=system)] if system else []
    return Prompt(messages=(*messages, Message(role="user", content=text)), **changed)


def issues(count: int, *, seed: int = 0, max_words: int = 40) -> list[Prompt]:
    """Prompts of random words, at least 3, after the same instructions, each with its number."""
    random = np.random.default_rng(seed)
    return [
        prompt(f"{' '.join(random.choice(WORDS, random.integers(3, max_words)))} {number}", system=INSTRUCTIONS)
        for number in range(count)
    ]


def generate(question: Prompt | str, max_tokens: int = 12, **changed: Any) -> Generate:
    """A request for text, greedy unless changed."""
    return Generate(
        prompt=prompt(question) if isinstance(question, str) else question, max_tokens=max_tokens, **changed
    )


def score(question: Prompt | str, *continuations: str) -> Score:
    """A request for the log-probabilities of these answers."""
    return Score(prompt=prompt(question) if isinstance(question, str) else question, continuations=continuations)


def one_at_a_time(backend: Backend, requests: Sequence[Request]) -> list[Response]:
    """The responses to requests that share neither a batch nor a prefix."""
    engine = Engine(backend)
    responses: list[Response] = []
    for request in requests:
        engine.reset()
        responses += engine.run([request])
    return responses


def timeless(responses: Sequence[Response]) -> list[Response]:
    """The responses without their durations, which differ from run to run."""
    return [replace(each, usage=replace(each.usage, seconds=0.0)) for each in responses]


def cost(responses: Sequence[Response]) -> Usage:
    """The total usage of the responses."""
    return Usage.total(each.usage for each in responses)
