"""Conversations of strategies with the engine, many at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, repeat

from pytest_puma.core import (
    Answer,
    Conversation,
    Exchange,
    Generate,
    Origin,
    Prompt,
    Request,
    Responder,
    Response,
    Score,
    SharedPrompts,
    Transcript,
    Turn,
)
from pytest_puma.core.shared import PromptRest
from pytest_puma.platform.signals import limited

#: Called with the numbers of answered and of all samples.
Progress = Callable[[int, int], None]
#: Conversations of a block: their requests are in memory. Many more than the engine computes at once. The number must
#: stay, as an answer depends a little on the others of its block.
MAX_CONCURRENT = 2048


@dataclass(slots=True, eq=False)
class ConversationState:
    """A running conversation: the tickets it waits for, and finally its answer.

    `prompts`: the prompt of each request, `None` for the same prompt as before; `continuations`: those that it scores;
    `limits`: its maximum of new tokens; `responses`: the response to each request; `last`: those to the last requests.
    """

    exchange: Exchange
    shared: SharedPrompts
    origin: Origin | None = None
    waiting: list[int] = field(default_factory=list)
    replies: dict[int, Response] = field(default_factory=dict)
    prompts: list[PromptRest | None] = field(default_factory=list)
    continuations: list[tuple[str, ...]] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    prompt: Prompt | None = None
    last: tuple[Response, ...] = ()

    def advance(self) -> Sequence[Request]:
        """Send the received responses; return the next requests, none if the conversation has its answer."""
        responses = tuple(map(self.replies.pop, self.waiting))
        self.responses += responses
        requests = self.exchange.advance(responses)
        if not requests:
            self.last, self.prompt = responses, None
        return requests

    def keep(self, requests: Sequence[Request]) -> None:
        """Record the next requests."""
        for request in requests:
            self._keep(request.prompt)
            self.continuations.append(request.continuations if isinstance(request, Score) else ())
            self.limits.append(request.max_tokens if isinstance(request, Generate) else 0)

    @property
    def answer(self) -> Answer | None:
        """The answer of the strategy, None until the end."""
        return self.exchange.answer

    def transcript(self) -> Transcript:
        """Return the whole conversation. Prompts are without the prefix that all conversations so far share."""
        cited = {id(response) for response in self.answer.responses} if self.answer is not None else set()
        return Transcript(
            tuple(
                Turn(
                    prompt=None if prompt is None else self.shared.rest(prompt),
                    continuations=continuations,
                    response=response,
                    cited=id(response) in cited,
                )
                for prompt, continuations, response in zip(
                    self.prompts, self.continuations, self.responses, strict=True
                )
            )
        )

    def origins(self, requests: int) -> list[Origin]:
        """Return the origins of this number of last requests; none if that of the conversation is unknown."""
        if self.origin is None:
            return []
        total = len(self.prompts)
        return [self.origin.at(index) for index in range(total - requests, total)]

    def _keep(self, prompt: Prompt) -> None:
        turn = sum(kept is not None for kept in self.prompts)
        self.prompts.append(None if prompt == self.prompt else self.shared.keep(turn, prompt))
        self.prompt = prompt

    def receive(self, ticket: int, response: Response) -> bool:
        """Record a response; return True when none is pending."""
        self.replies[ticket] = response
        return len(self.replies) == len(self.waiting)


def run_conversations(
    conversations: Sequence[Conversation],
    engine: Responder,
    progress: Progress | None = None,
    shared: SharedPrompts | None = None,
    origins: Sequence[Origin] = (),
) -> list[ConversationState]:
    """Run conversations together until each has its answer: in blocks, each with an empty cache.

    So the answers of a block do not depend on those before it, and another machine may compute it. `shared` collects
    the prompts. `origins`: of the first request of each conversation, if the engine needs them.
    """
    kept = SharedPrompts() if shared is None else shared
    states = [
        ConversationState(Exchange(conversation), kept, origin)
        for conversation, origin in zip(conversations, origins or repeat(None, len(conversations)), strict=True)
    ]

    def tell(before: int, answered: int) -> None:
        if progress is not None:
            progress(before + answered, len(states))

    for start in range(0, len(states), MAX_CONCURRENT):
        if start:
            engine.forget()
        _run(states[start : start + MAX_CONCURRENT], engine, partial(tell, start))
    return states


def _run(states: Sequence[ConversationState], engine: Responder, tell: Callable[[int], None]) -> None:
    owners: dict[int, ConversationState] = {}
    answered = 0
    ready = list(states)
    while True:
        owners |= _submit(ready, engine)
        answered += sum(state.answer is not None for state in ready)
        tell(answered)
        if answered == len(states):
            return
        responses = engine.step()
        ready = [
            state for ticket, response in responses.items() if (state := owners.pop(ticket)).receive(ticket, response)
        ]


def _submit(states: Sequence[ConversationState], engine: Responder) -> dict[int, ConversationState]:
    """Submit the next requests of each conversation; return the owner of each ticket."""
    with limited(math.inf):  # one timer for the limits of all
        next_requests = [(state, state.advance()) for state in states]
    # In loops of their own: code that runs again at once is still in the processor's cache.
    for state, requests in next_requests:
        state.keep(requests)
    for state, requests in next_requests:
        state.exchange.check(requests, engine.capabilities)
    origins = chain.from_iterable(state.origins(len(requests)) for state, requests in next_requests)
    tickets = iter(engine.submit_all([request for _, requests in next_requests for request in requests], [*origins]))
    for state, requests in next_requests:
        state.waiting = list(islice(tickets, len(requests)))
    return {ticket: state for state in states for ticket in state.waiting}
