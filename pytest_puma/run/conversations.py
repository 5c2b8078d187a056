"""Conversations of strategies with the engine, many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from pytest_puma.core import Answer, Conversation, Exchange, Prompt, Request, Response, SharedPrompts, Usage
from pytest_puma.core.shared import Kept
from pytest_puma.engine.engine import Engine

#: Called with the numbers of answered and of all samples.
Progress = Callable[[int, int], None]
#: Maximum number of running conversations: their requests are in memory. Many more than the engine computes at once.
MAX_CONCURRENT = 2048


@dataclass(slots=True, eq=False)
class ConversationState:
    """A running conversation: the tickets it waits for, and finally its answer.

    `prompts`: the prompt of each request, `None` for the same prompt as before; `last`: the responses to the last
    requests.
    """

    exchange: Exchange
    shared: SharedPrompts
    waiting: list[int] = field(default_factory=list)
    replies: dict[int, Response] = field(default_factory=dict)
    prompts: list[Kept | None] = field(default_factory=list)
    prompt: Prompt | None = None
    usage: Usage = field(default_factory=Usage)
    last: tuple[Response, ...] = ()

    def advance(self) -> Sequence[Request]:
        """Send the received responses; return the next requests, none if the conversation has its answer."""
        responses = tuple(self.replies.pop(ticket) for ticket in self.waiting)
        requests = self.exchange.advance(responses)
        for request in requests:
            self._keep(request.prompt)
        if not requests:
            self.last, self.prompt = responses, None
        return requests

    @property
    def answer(self) -> Answer | None:
        """The answer of the strategy, None until the end."""
        return self.exchange.answer

    def _keep(self, prompt: Prompt) -> None:
        turn = sum(kept is not None for kept in self.prompts)
        self.prompts.append(None if prompt == self.prompt else self.shared.keep(turn, prompt))
        self.prompt = prompt

    def receive(self, ticket: int, response: Response) -> bool:
        """Record a response; return True when none is pending."""
        self.replies[ticket] = response
        self.usage += response.usage
        return len(self.replies) == len(self.waiting)


def run_conversations(
    conversations: Sequence[Conversation],
    engine: Engine,
    progress: Progress | None = None,
    shared: SharedPrompts | None = None,
) -> list[ConversationState]:
    """Run conversations together until each has its answer; `shared` collects their prompts."""
    kept = SharedPrompts() if shared is None else shared
    states = [ConversationState(Exchange(conversation), kept) for conversation in conversations]

    def tell(before: int, answered: int) -> None:
        if progress is not None:
            progress(before + answered, len(states))

    for start in range(0, len(states), MAX_CONCURRENT):
        _run(states[start : start + MAX_CONCURRENT], engine, partial(tell, start))
    return states


def _run(states: Sequence[ConversationState], engine: Engine, tell: Callable[[int], None]) -> None:
    owners: dict[int, ConversationState] = {}
    answered = 0
    ready = list(states)
    while answered < len(states):
        owners |= _submit(ready, engine)
        answered += sum(state.answer is not None for state in ready)
        tell(answered)
        responses = engine.step()
        ready = [
            state for ticket, response in responses.items() if (state := owners.pop(ticket)).receive(ticket, response)
        ]


def _submit(states: Sequence[ConversationState], engine: Engine) -> dict[int, ConversationState]:
    """Submit the next requests of each conversation; return the owner of each ticket."""
    next_requests = [(state, state.advance()) for state in states]
    tickets = iter(engine.submit_all([request for _, requests in next_requests for request in requests]))
    for state, requests in next_requests:
        state.waiting = list(islice(tickets, len(requests)))
    return {ticket: state for state in states for ticket in state.waiting}
