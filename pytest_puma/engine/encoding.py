"""From requests to tokens, jobs and replies."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain

from pytest_puma.core import Backend, EngineError, Generate, Prompt, Request, Score
from pytest_puma.core.likelihood import POSITIONS
from pytest_puma.core.shared import common_prefix
from pytest_puma.engine.jobs import Job
from pytest_puma.engine.replies import GenerateReply, GuidedReply, Reply, ScoreReply, carriers_of

#: Requests that justify starting a thread.
_MIN_PER_THREAD = 8


@dataclass(frozen=True, slots=True)
class Encoded:
    """A request with its prompt tokens and, for a score, the tokens of each continuation with an end if requested.

    `ends`: the tokens of which any ends a continuation. `carriers`: see `carriers_of`. `against`: the tokens of the
    second prompt of a guided request.
    Tokens take four bytes each: a list of Python's numbers would take eight times as much per waiting request.
    """

    request: Request
    tokens: array[int]
    tails: tuple[tuple[int, ...], ...] = ()
    ends: Sequence[int] = ()
    carriers: Sequence[int] = ()
    against: array[int] | None = None

    def job(self, key: int, limit: int) -> Job | None:
        """Return the scheduler's job; None if the prompt with its longest continuation, or one token, is too long."""
        longest = max(len(self.tokens), len(self.against or ()))
        if longest + max((len(tail) - 1 for tail in self.tails), default=1) > limit:
            return None
        if isinstance(self.request, Generate):
            room = min(self.request.max_tokens, limit - longest)
            twin = Job(key=key, tokens=self.against, room=room) if self.against else None
            return Job(key=key, tokens=self.tokens, room=room, twin=twin)
        return Job(key=key, tokens=self.tokens, tails=tuple(self.tails[index] for index in sorted({*self.carriers})))

    def reply(self, backend: Backend, job: Job) -> Reply:
        """Return the reply that takes the rows of logits of the job."""
        if isinstance(self.request, Generate):
            reply = GuidedReply if job.twin else GenerateReply
            return reply(backend, self.request, len(self.tokens) + len(self.against or ()), job.room)
        return ScoreReply(self.tails, self.carriers, self.ends, len(self.tokens), top=self.request.top)


def encode_all(backend: Backend, requests: Sequence[Request]) -> Iterable[Encoded]:
    """Return the tokens of each request. Many are divided among threads: llama.cpp releases the interpreter.

    Each thread gets consecutive requests: those with the same prompt are neighbours, and it is encoded once.
    """
    threads = min(backend.encoders, len(requests) // _MIN_PER_THREAD)
    one = partial(encoded, backend)
    if threads <= 1:
        return map(one, requests)
    size = math.ceil(len(requests) / threads)
    chunks = [requests[start : start + size] for start in range(0, len(requests), size)]
    with ThreadPoolExecutor(threads) as pool:
        return list(chain.from_iterable(pool.map(lambda chunk: [*map(one, chunk)], chunks)))


def encoded(backend: Backend, request: Request) -> Encoded:
    """Return the tokens of a request; an `EngineError` if its prompt has none.

    One boundary serves all continuations: the shortest prefix that the prompt shares with any of them. So a token that
    merges across the end of the prompt is part of the continuation. Each has at least one.
    """
    answer = isinstance(request, Score) or not request.thinks
    tokens = _prompt(backend, request.prompt, answer=answer)
    if isinstance(request, Generate):
        given = request.against
        against = None if given is None else array("i", _prompt(backend, given, answer=answer))
        return Encoded(request, array("i", tokens), against=against)
    full = [backend.encode(request.prompt, text) for text in request.continuations]
    boundary = min(min(common_prefix(tokens, whole), len(whole) - 1) for whole in full)
    if boundary == 0:
        msg = f"no prompt token is left before the continuations {request.continuations!r}"
        raise EngineError(msg)
    ends = backend.ends_of_turn if request.ends else ()
    tails = tuple((*whole[boundary:], *ends[:1]) for whole in full)
    if request.top and len(tails[0]) > POSITIONS:
        tails, ends = (tails[0][:POSITIONS],), ()
    return Encoded(request, array("i", tokens[:boundary]), tails, ends, carriers_of(tails))


def _prompt(backend: Backend, prompt: Prompt, *, answer: bool) -> Sequence[int]:
    tokens = backend.encode(prompt, answer=answer)
    if not tokens:
        msg = "the prompt has no tokens; expected some text in its messages or the chat template"
        raise EngineError(msg)
    return tokens
