"""Replies in progress: each consumes the rows of logits of its request and builds the response."""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_puma.core import Backend, Generate, Likelihood, Response, TopTokens, Usage
from pytest_puma.core.backend import Thoughts
from pytest_puma.core.conversation import Finish
from pytest_puma.engine.adjustment import Adjustment
from pytest_puma.engine.jobs import RowOwner
from pytest_puma.engine.sampling import best_token, best_tokens, choose, log_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Reply:
    """A response in progress."""

    def __init__(self, prompt_tokens: int) -> None:
        self._prompt_tokens = prompt_tokens
        self._cached = 0
        self._started = self.joules = 0.0

    def begin(self, now: float, cached: int) -> None:
        """Record the admission of its request, which found `cached` prompt tokens in the cache."""
        self._started, self._cached = now, cached

    def close(self) -> None:
        """Free resources outside Python."""

    def _usage(self, decoded: int, now: float) -> Usage:
        return Usage(
            prompt_tokens=self._prompt_tokens,
            cached_tokens=self._cached,
            decoded_tokens=decoded,
            seconds=now - self._started,
        )


class GenerateReply(_Reply):
    """Samples one token per row until the model, a stop string or the token limit ends it."""

    def __init__(self, backend: Backend, request: Generate, prompt_tokens: int, max_tokens: int) -> None:
        super().__init__(prompt_tokens)
        self._backend = backend
        self._max_tokens = max_tokens
        self._greedy, self._wants_logprobs = request.temperature == 0, request.logprobs
        # The request itself is not kept: thousands of prompt texts, already encoded, would fill the memory.
        self._choose_by = partial(
            choose,
            temperature=request.temperature,
            top_k=request.top_k,
            top_p=request.top_p,
            min_p=request.min_p,
            random=np.random.default_rng(request.seed),
        )
        self._adjustment = Adjustment(backend, request) if request.bias or request.penalties else None
        self._grammar = backend.grammar(request.grammar) if request.grammar else None
        # Token boundaries may fall inside stop strings and characters, so text is matched as bytes.
        stops = (*request.prompt.stop, *(backend.stops if request.prompt.chat else ()))
        self._stops = tuple(stop.encode() for stop in stops if stop)
        self._thoughts = backend.thoughts(request.prompt) if request.thinks else Thoughts()
        self._text = bytearray()
        self._logprobs: list[float] = []
        self._decoded = 0
        self._finish: Finish = "length" if max_tokens == request.max_tokens else "context"

    @property
    def complete(self) -> bool:
        """Whether the row that it took last was its last one."""
        return self._finish == "stop" or self._decoded >= self._max_tokens

    def take(self, logits: NDArray[np.float32], row: RowOwner) -> int | None:  # noqa: ARG002 - all rows are alike
        """Return the next token, None when the response is complete."""
        token = self._choose(logits)
        self._decoded += 1
        if self._wants_logprobs:
            self._logprobs.append(float(log_probabilities(logits, [token])[0]))
        piece = self._backend.piece(token)
        if self._backend.is_end(token) and not self._thoughts.goes_on(self._written(), piece.decode(errors="replace")):
            self._finish = "stop"
            return None
        if self._grammar is not None:
            self._grammar.accept(token)
        if self._adjustment is not None:
            self._adjustment.accept(token)
        self._text += piece
        if self._cut_at_stop(len(piece)):
            self._finish = "stop"
            return None
        return token if self._decoded < self._max_tokens else None

    def response(self, now: float) -> Response:
        """Return the text, with invalid UTF-8 replaced; a last character that the token limit cut is omitted."""
        self.close()
        return Response(
            text=self._thoughts.shown(self._written()),
            logprobs=tuple(self._logprobs),
            finish=self._finish,
            usage=self._usage(self._decoded, now),
            joules=self.joules,
        )

    def close(self) -> None:
        """Free the grammar."""
        if self._grammar is not None:
            self._grammar.close()

    def _written(self) -> str:
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        return decoder.decode(self._text, final=self._finish == "stop")

    def _choose(self, logits: NDArray[np.float32]) -> int:
        if self._adjustment is not None:
            logits = self._adjustment.adjusted(logits)
        if self._grammar is None:
            return self._choose_by(logits)
        # The whole mask costs tens of milliseconds, a single token almost nothing: greedy tries that first.
        best = best_token(logits)
        if self._greedy and self._grammar.allows(best):
            return best
        return self._choose_by(logits, mask=self._grammar.mask())

    def _cut_at_stop(self, added: int) -> bool:
        """Cut the text before the first stop string that the last `added` bytes complete; True if there is one.

        A stop string ends an answer, not the thoughts before it.
        """
        starts = [self._text.find(stop, max(0, len(self._text) - added - len(stop) + 1)) for stop in self._stops]
        cut = min((start for start in starts if start >= 0), default=None)
        if cut is None or self._thoughts.unfinished(self._written()):
            return False
        del self._text[cut:]
        return True


class GuidedReply(GenerateReply):
    """Chooses each token by the rows after two prompts, which both get it: `with + weight * (with - against)`.

    Context-aware decoding: Shi et al., "Trusting Your Evidence: Hallucinate Less with Context-aware Decoding", 2023. It
    is classifier-free guidance of the strength 1 + weight: Sanchez et al., "Stay on topic with Classifier-Free
    Guidance", 2023. Log-probabilities are those after the prompt alone.
    """

    def __init__(self, backend: Backend, request: Generate, prompt_tokens: int, max_tokens: int) -> None:
        super().__init__(backend, request, prompt_tokens, max_tokens)
        self._weight = np.float32(request.weight)
        self._first: NDArray[np.float32] | None = None

    def take(self, logits: NDArray[np.float32], row: RowOwner) -> int | None:
        """Keep the row after the prompt; with that of its twin, which follows, return as for a single prompt."""
        if self._first is None:
            # The next batch overwrites it.
            self._first = logits.copy()
            return None
        first, self._first, self._against = self._first, None, logits
        return super().take(first, row)

    def _choose(self, logits: NDArray[np.float32]) -> int:
        return super()._choose(logits + self._weight * (logits - self._against))


class ScoreReply(_Reply):
    """Sums the log-probability of each continuation, token by token, and takes that of its end apart.

    With `ends`, the last token of each tail represents any of them; without, it belongs to the continuation. It is
    never computed: nothing follows it. A continuation that is a prefix of another one is not computed either: it uses
    the rows of the other, its carrier. `top`: the number of best tokens to keep of each row.
    """

    #: The scheduler knows when it is.
    complete = False

    def __init__(
        self,
        tails: Sequence[tuple[int, ...]],
        carriers: Sequence[int],
        ends: Sequence[int],
        prompt_tokens: int,
        *,
        top: int = 0,
    ) -> None:
        super().__init__(prompt_tokens)
        self._top, self._best = top, list[TopTokens]()
        self._tails, self._ends = tails, list(ends)
        self._lengths = [len(tail) - bool(ends) for tail in tails]
        self._totals, self._end = np.zeros(len(tails)), np.zeros(len(tails))
        self._greedy = np.ones(len(tails), dtype=np.bool_)
        fed = sorted(set(carriers))
        self._fed = sum(len(tails[index]) - 1 for index in fed)
        self._served = [[index for index, carrier in enumerate(carriers) if carrier == tail] for tail in fed]

    def take(self, logits: NDArray[np.float32], row: RowOwner) -> None:
        """Add a row: the row after the prompt serves all continuations, any other row those with its prefix."""
        served = range(len(self._tails)) if row.tail is None else self._served[row.tail]
        position = 0 if row.tail is None else row.position - self._prompt_tokens + 1
        inside = [index for index in served if position < self._lengths[index]]
        ended = [index for index in served if position == self._lengths[index]]
        tokens, best = [self._tails[index][position] for index in inside], best_token(logits)
        gains = log_probabilities(logits, [*tokens, *(self._ends if ended else ())])
        self._totals[inside] += gains[: len(tokens)]
        self._greedy[inside] &= np.equal(tokens, best)
        if ended and self._ends:
            self._end[ended] = np.logaddexp.reduce(gains[len(tokens) :])
        if self._top:
            tokens = best_tokens(logits, self._top).tolist()
            self._best.append(TopTokens(array("i", tokens), array("f", log_probabilities(logits, tokens).tolist())))

    def response(self, now: float) -> Response:
        """Return the sums; `decoded_tokens` counts the computed tokens of the continuations."""
        totals, ends, greedy = self._totals.tolist(), self._end.tolist(), self._greedy.tolist()
        return Response(
            logprobs=tuple((self._totals + self._end).tolist()),
            likelihoods=tuple(
                Likelihood(total=total, end=end if self._ends else None, tokens=tokens, greedy=best)
                for total, end, tokens, best in zip(totals, ends, self._lengths, greedy, strict=True)
            ),
            top=tuple(self._best),
            finish="scored",
            usage=self._usage(self._fed, now),
            joules=self.joules,
        )


#: Each takes rows of logits, and returns the token to continue with, or None.
Reply: TypeAlias = GenerateReply | ScoreReply


def carriers_of(tails: Sequence[tuple[int, ...]]) -> list[int]:
    """Return, for each tail without its last token, the index of a longest one that begins with it, perhaps its own."""
    texts = [tail[:-1] for tail in tails]
    # In sorted order, the texts that begin with a text follow it directly.
    order = sorted(range(len(texts)), key=texts.__getitem__)
    carried = list(range(len(texts)))
    for follower, text in pairwise(reversed(order)):
        if texts[follower][: len(texts[text])] == texts[text]:
            carried[text] = carried[follower]
    return carried
