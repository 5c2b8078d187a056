"""Responses in the making: each takes the rows of logits that belong to its request."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Backend, Generate, Response, Usage
from pytest_puma.core.conversation import Finish
from pytest_puma.engine.jobs import Row
from pytest_puma.engine.prefix import carriers
from pytest_puma.engine.sampling import choose, log_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Reply(ABC):
    """What has been computed of a response so far."""

    def __init__(self, prompt_tokens: int) -> None:
        self._prompt_tokens = prompt_tokens
        self._cached = 0
        self._started = 0.0

    def begin(self, now: float, cached: int) -> None:
        """Its request is admitted now, and found so many prompt tokens in the cache."""
        self._started, self._cached = now, cached

    @abstractmethod
    def take(self, logits: NDArray[np.float32], row: Row) -> int | None:
        """Use a row; the token to go on with, or None."""

    @abstractmethod
    def response(self, now: float) -> Response:
        """The finished response."""

    def close(self) -> None:  # noqa: B027 - most replies hold nothing
        """Give back what it holds outside Python."""

    def _usage(self, decoded: int, now: float) -> Usage:
        return Usage(
            prompt_tokens=self._prompt_tokens,
            cached_tokens=self._cached,
            decoded_tokens=decoded,
            seconds=now - self._started,
        )


class GenerateReply(Reply):
    """Samples one token a row until the model, a stop string or the limit ends it."""

    def __init__(self, backend: Backend, request: Generate, prompt_tokens: int, most_tokens: int) -> None:
        super().__init__(prompt_tokens)
        self._backend = backend
        self._most_tokens = most_tokens
        self._greedy, self._wants_logprobs = request.temperature == 0, request.logprobs
        # Not the request itself: its prompt is tokens by now, and thousands of texts would fill the memory.
        self._choose_by = partial(
            choose,
            temperature=request.temperature,
            top_k=request.top_k,
            top_p=request.top_p,
            min_p=request.min_p,
            random=np.random.default_rng(request.seed),
        )
        self._grammar = backend.grammar(request.grammar) if request.grammar else None
        # Stop strings and characters may be cut by tokens in any way: text is matched as bytes.
        self._stops = tuple(stop.encode() for stop in (*request.prompt.stop, *backend.stops) if stop)
        self._text = bytearray()
        self._logprobs: list[float] = []
        self._decoded = 0
        self._finish: Finish = "length" if most_tokens == request.max_tokens else "context"

    def take(self, logits: NDArray[np.float32], row: Row) -> int | None:  # noqa: ARG002 - one row is like another
        """The next token, None when the response is complete."""
        token = self._choose(logits)
        self._decoded += 1
        if self._wants_logprobs:
            self._logprobs.append(float(log_probabilities(logits, [token])[0]))
        if self._backend.is_end(token):
            self._finish = "stop"
            return None
        if self._grammar is not None:
            self._grammar.accept(token)
        piece = self._backend.piece(token)
        self._text += piece
        if self._cut_at_stop(len(piece)):
            self._finish = "stop"
            return None
        return token if self._decoded < self._most_tokens else None

    def response(self, now: float) -> Response:
        """The text, with bytes that are no UTF-8 replaced; a character that a limit cut is left out."""
        self.close()
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        return Response(
            text=decoder.decode(self._text, final=self._finish == "stop"),
            logprobs=tuple(self._logprobs),
            finish=self._finish,
            usage=self._usage(self._decoded, now),
        )

    def close(self) -> None:
        """Free the grammar."""
        if self._grammar is not None:
            self._grammar.close()

    def _choose(self, logits: NDArray[np.float32]) -> int:
        if self._grammar is None:
            return self._choose_by(logits)
        # The whole mask costs tens of milliseconds, one token next to nothing: greedy tries that first.
        best = int(logits.argmax())
        if self._greedy and self._grammar.allows(best):
            return best
        return self._choose_by(logits, mask=self._grammar.mask())

    def _cut_at_stop(self, added: int) -> bool:
        """Whether the last `added` bytes complete a stop string; the text then ends before the first of them."""
        found = [self._text.find(stop, max(0, len(self._text) - added - len(stop) + 1)) for stop in self._stops]
        cut = min((place for place in found if place >= 0), default=None)
        if cut is None:
            return False
        del self._text[cut:]
        return True


class ScoreReply(Reply):
    """Adds up the log-probability of each continuation, token by token.

    The last token of each tail stands for any of the `ends`. A continuation that another begins with is not computed:
    the rows of the other serve it. `fed` are the tails left.
    """

    def __init__(self, tails: tuple[tuple[int, ...], ...], ends: Sequence[int], prompt_tokens: int) -> None:
        super().__init__(prompt_tokens)
        self._tails, self._ends = tails, list(ends)
        self._sums = np.zeros(len(tails))
        carried = carriers([tail[:-1] for tail in tails])
        carrying = sorted(set(carried))
        self.fed = tuple(tails[index] for index in carrying)
        self._served = [[index for index, by in enumerate(carried) if by == each] for each in carrying]

    def take(self, logits: NDArray[np.float32], row: Row) -> None:
        """The row after the prompt serves all continuations, any other row those that have its beginning."""
        served = range(len(self._tails)) if row.tail is None else self._served[row.tail]
        place = 0 if row.tail is None else row.position - self._prompt_tokens + 1
        going_on = [index for index in served if place < len(self._tails[index])]
        gains = log_probabilities(logits, [self._tails[index][place] for index in going_on])
        if len(self._ends) > 1:
            ending = [place == len(self._tails[index]) - 1 for index in going_on]
            gains[ending] = np.logaddexp.reduce(log_probabilities(logits, self._ends))
        self._sums[going_on] += gains

    def response(self, now: float) -> Response:
        """The sums; `decoded_tokens` are those fed for the continuations."""
        decoded = sum(len(tail) - 1 for tail in self.fed)
        return Response(logprobs=tuple(self._sums.tolist()), finish="scored", usage=self._usage(decoded, now))


def overflow() -> Response:
    """The response to a prompt that does not fit into the context: nothing was computed, so it cost nothing."""
    return Response(finish="overflow")
