"""Conversations of strategies with the engine, many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pytest_puma.core import Answer, Conversation, EngineError, Request, Response, Usage
from pytest_puma.engine.engine import Engine

#: Told (answered, all) samples.
Progress = Callable[[int, int], None]


@dataclass(slots=True, eq=False)
class Talk:
    """A conversation under way: the tickets it waits for, and in the end its answer."""

    conversation: Conversation
    waiting: list[int] = field(default_factory=list)
    replies: dict[int, Response] = field(default_factory=dict)
    last_request: Request | None = None
    usage: Usage = field(default_factory=Usage)
    answer: Answer | None = None

    def advance(self) -> Sequence[Request]:
        """Send the responses it waited for; what it asks next, nothing where it came to its answer."""
        responses = tuple(self.replies.pop(ticket) for ticket in self.waiting)
        try:
            requests = self.conversation.send(responses) if self.waiting else next(self.conversation)
        except StopIteration as stop:
            if not isinstance(stop.value, Answer):
                msg = f"a strategy returns {stop.value!r}; expected an Answer"
                raise EngineError(msg) from None
            self.answer = stop.value
            return ()
        if not requests:
            msg = "a strategy yields no request; expected at least one in each yield"
            raise EngineError(msg)
        self.last_request = requests[-1]
        return requests

    def hear(self, ticket: int, response: Response) -> bool:
        """Take a response; whether it was the last one waited for."""
        self.replies[ticket] = response
        self.usage += response.usage
        return len(self.replies) == len(self.waiting)


def hold(conversations: Sequence[Conversation], engine: Engine, progress: Progress | None = None) -> list[Talk]:
    """Keep all conversations going at once until each has its answer."""
    talks = [Talk(conversation) for conversation in conversations]
    owners: dict[int, Talk] = {}
    answered = 0
    ready = list(talks)
    while answered < len(talks):
        asked = [(talk, talk.advance()) for talk in ready]
        answered += sum(talk.answer is not None for talk in ready)
        tickets = iter(engine.submit_all([request for _, requests in asked for request in requests]))
        for talk, requests in asked:
            talk.waiting = list(islice(tickets, len(requests)))
            owners.update(dict.fromkeys(talk.waiting, talk))
        if progress is not None:
            progress(answered, len(talks))
        heard = engine.step()
        ready = [talk for ticket, response in heard.items() if (talk := owners.pop(ticket)).hear(ticket, response)]
    return talks
