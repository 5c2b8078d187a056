"""One conversation of a strategy with the engine, request by request, with checks of what it yields."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from pytest_puma.core.conversation import Answer, Conversation, Generate, Request, Response, Score
from pytest_puma.errors import EngineError
from pytest_puma.phrases import shown
from pytest_puma.platform.signals import CALL, limited

_EXPECTED = (
    "expected a request, which task.generate(prompt) or task.score(prompt, options) gives (in a metric, "
    "Generate(...) or Score(...)), or a tuple of them"
)


class Exchange:
    """A strategy's conversation: call `advance` until there is an `answer`.

    An `EngineError` if the strategy yields something else than requests, or returns something else than an answer.
    """

    __slots__ = ("_conversation", "_received", "_single", "_started", "answer")

    def __init__(self, conversation: Conversation) -> None:
        if not isinstance(conversation, Generator):
            msg = f"a strategy function returns {shown(conversation)} and has no `yield`; {_EXPECTED}"
            raise EngineError(msg)
        self._conversation = conversation
        self._started = self._single = False
        self._received: list[Response] = []
        self.answer: Answer | None = None

    def advance(self, responses: Sequence[Response] = ()) -> tuple[Request, ...]:
        """Return the requests that follow these responses; none if the strategy has its answer."""
        self._received += responses
        try:
            with limited(CALL):
                yielded = self._conversation.send(self._sent(responses))
        except StopIteration as stop:
            if not isinstance(stop.value, Answer):
                msg = f"{self._who} returns {shown(stop.value)}; expected an Answer(value=..., responses=...)"
                raise EngineError(msg) from None
            received = {id(response) for response in self._received}
            if any(id(response) not in received for response in stop.value.responses):
                msg = f"{self._who} answers with a response that it did not receive; expected one of those"
                raise EngineError(msg) from None
            self.answer = stop.value
            return ()
        self._started, self._single = True, isinstance(yielded, (Generate, Score))
        return self._requests(yielded)

    def check(self, requests: Sequence[Request], capabilities: AbstractSet[str]) -> None:
        """Refuse requests that the responder cannot answer; a client would answer them as something else."""
        needed = {need for request in requests for need in _needs(request)}
        if not needed <= capabilities:
            missing = sorted(needed - capabilities)
            msg = (
                f"{self._who} makes requests that need {' and '.join(map(repr, missing))}, which the responder cannot "
                f"do; expected other requests or another responder (a strategy with needs={set(missing)} is skipped)"
            )
            raise EngineError(msg)

    @property
    def _who(self) -> str:
        return f"the function {getattr(self._conversation, '__name__', 'of this cell')}"

    def _sent(self, responses: Sequence[Response]) -> Any:
        if not self._started:
            return None
        return responses[0] if self._single else tuple(responses)

    def _requests(self, yielded: object) -> tuple[Request, ...]:
        if isinstance(yielded, (Generate, Score)):
            return (yielded,)
        requests = yielded if isinstance(yielded, (tuple, list)) else None
        if requests is None or not all(isinstance(request, (Generate, Score)) for request in requests):
            msg = f"{self._who} yields {shown(yielded)}; {_EXPECTED}"
            raise EngineError(msg)
        if not requests:
            msg = f"{self._who} yields no request; {_EXPECTED}"
            raise EngineError(msg)
        return tuple(requests)


def _needs(request: Request) -> Iterator[str]:
    """The capabilities without which no responder can answer a request."""
    if isinstance(request, Score):
        yield "score"
        return
    yield "generate"
    if request.grammar is not None:
        yield "grammar"
    if request.bias or request.penalties:
        yield "bias"
    if request.against is not None:
        yield "guidance"
