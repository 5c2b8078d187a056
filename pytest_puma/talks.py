"""Conversations of strategies with the engine, many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from pytest_puma.core import Answer, Conversation, EngineError, Request, Response, Usage
from pytest_puma.engine.engine import Engine

#: Told (answered, all) samples.
Progress = Callable[[int, int], None]
#: Characters of a prompt's end that are kept, for reports of misses.
PROMPT_TAIL = 600
#: Conversations under way at once: what waits in the engine is in memory. Many more than it computes at a time.
TOGETHER = 2048


@dataclass(slots=True, eq=False)
class Talk:
    """A conversation under way: the tickets it waits for, and in the end its answer.

    `prompt` is the end of the last prompt, None before the first; `last` are the responses to the last requests.
    """

    conversation: Conversation
    waiting: list[int] = field(default_factory=list)
    replies: dict[int, Response] = field(default_factory=dict)
    prompt: str | None = None
    usage: Usage = field(default_factory=Usage)
    last: tuple[Response, ...] = ()
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
            self.answer, self.last = stop.value, responses
            return ()
        if not requests:
            msg = "a strategy yields no request; expected at least one in each yield"
            raise EngineError(msg)
        self.prompt = requests[-1].prompt.messages[-1].content[-PROMPT_TAIL:]
        return requests

    def hear(self, ticket: int, response: Response) -> bool:
        """Take a response; whether it was the last one waited for."""
        self.replies[ticket] = response
        self.usage += response.usage
        return len(self.replies) == len(self.waiting)


def hold(conversations: Sequence[Conversation], engine: Engine, progress: Progress | None = None) -> list[Talk]:
    """Keep many conversations going at once until each has its answer."""
    talks = [Talk(conversation) for conversation in conversations]

    def tell(before: int, answered: int) -> None:
        if progress is not None:
            progress(before + answered, len(talks))

    for start in range(0, len(talks), TOGETHER):
        _hold(talks[start : start + TOGETHER], engine, partial(tell, start))
    return talks


def _hold(talks: Sequence[Talk], engine: Engine, tell: Callable[[int], None]) -> None:
    owners: dict[int, Talk] = {}
    answered = 0
    ready = list(talks)
    while answered < len(talks):
        owners |= _submit(ready, engine)
        answered += sum(talk.answer is not None for talk in ready)
        tell(answered)
        heard = engine.step()
        ready = [talk for ticket, response in heard.items() if (talk := owners.pop(ticket)).hear(ticket, response)]


def _submit(talks: Sequence[Talk], engine: Engine) -> dict[int, Talk]:
    """Let each ask what it asks next; who waits for which ticket."""
    asked = [(talk, talk.advance()) for talk in talks]
    tickets = iter(engine.submit_all([request for _, requests in asked for request in requests]))
    for talk, requests in asked:
        talk.waiting = list(islice(tickets, len(requests)))
    return {ticket: talk for talk in talks for ticket in talk.waiting}
