"""Requests, responses and answers: the exchange between a strategy and the engine.

A strategy is a generator. It yields a request and receives its response, or yields a tuple of requests, which are
computed together, and receives the tuple of their responses; it returns an `Answer`:

    def direct(task: Task) -> Conversation:
        response = yield task.generate(task.prompt())
        return Answer(value=task.read(response), responses=(response,))

`ask` and `ask_all` do the same in a form that type checkers follow: `response = yield from ask(request)`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from pytest_puma.core.likelihood import Likelihood, TopTokens
from pytest_puma.core.usage import Usage
from pytest_puma.errors import EngineError, SettingsError, check_limits

#: A number for each text that is one token.
Bias: TypeAlias = Mapping[str, float] | None
Role: TypeAlias = Literal["system", "user", "assistant"]
Finish: TypeAlias = Literal["stop", "length", "context", "scored", "overflow"]
_FINISHES: tuple[str, ...] = get_args(Finish)
#: Replies that were cut off: by the limit of tokens, or by the end of the context.
TRUNCATED = frozenset({"length", "context"})
#: Beyond these, a sampler can choose any token, or only one.
MAX_TEMPERATURE, MIN_TOP_P, _MAX_BIAS, _MAX_WEIGHT = 100, 1e-9, 1000, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The text of a request. The backend applies the model's own chat template.

    `prefill` is the start of the assistant's turn, which the model continues; `stop`: strings that end the generation,
    which are not in the response. Without `chat`, messages are plain text: a line break ends one of the user, a blank
    line any other.
    """

    messages: tuple[Message, ...]
    prefill: str = ""
    stop: tuple[str, ...] = ()
    chat: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """Sampling parameters. `None` leaves the choice to the strategy.

    `temperature` 0 is greedy; `top_k` 0, `top_p` 1 and `min_p` 0 switch that filter off.
    """

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    grammar: str | None = None
    logprobs: bool = False

    def __post_init__(self) -> None:
        """Check the range of each parameter."""
        check_limits(
            {
                "max_tokens": (self.max_tokens, 1, math.inf),
                "temperature": (self.temperature, 0, MAX_TEMPERATURE),
                "top_p": (self.top_p, MIN_TOP_P, 1),
                "top_k": (self.top_k, 0, math.inf),
                "min_p": (self.min_p, 0, 1),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalties:
    """Penalties on tokens that the reply has already. `repetition` 1, `frequency` 0 and `presence` 0 are none."""

    repetition: float = 1.0
    frequency: float = 0.0
    presence: float = 0.0

    def __post_init__(self) -> None:
        """Check the range of each."""
        subtracted = {"frequency": self.frequency, "presence": self.presence}
        check_limits({name: (value, -_MAX_BIAS, _MAX_BIAS) for name, value in subtracted.items()})
        check_limits({"repetition": (self.repetition, 1 / _MAX_BIAS, _MAX_BIAS)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Generate:
    """Request for text. Each request has its own `seed`: requests with different seeds may get different texts.

    `bias`: numbers that are added to the logits of texts, each of them one token of the model, before a token is chosen
    or sampled; log-probabilities are those of the model without it. `penalties`: the same for tokens of the reply.
    `thinks`: whether the model may think first, if its chat format has a place for that. Under a grammar of answers it
    may not: the reply is the answer alone, as of a `Score`. `against`: a second prompt, from which the reply is led
    away: both get the same tokens, chosen by the logits `with + weight * (with - against)`.
    """

    prompt: Prompt
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int = 0
    grammar: str | None = None
    logprobs: bool = False
    thinks: bool = True
    bias: Bias = None
    penalties: Penalties | None = None
    against: Prompt | None = None
    weight: float = 0.5

    def __post_init__(self) -> None:
        """Check the range of the weight and of each bias."""
        check_limits({"weight": (self.weight, 0, _MAX_WEIGHT)})
        if self.bias is not None:
            check_limits({f"bias of {text!r}": (value, -_MAX_BIAS, _MAX_BIAS) for text, value in self.bias.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Request for the log-probability of each continuation of the assistant's turn.

    `ends`: the continuation is the whole answer, so its end of turn is scored too. `top`: the number of most probable
    tokens to return at each of the first `POSITIONS` places of a single continuation, which is not scored beyond them.
    """

    prompt: Prompt
    continuations: tuple[str, ...]
    ends: bool = True
    top: int = 0

    def __post_init__(self) -> None:
        """Refuse an empty list and an empty continuation: they have no probability."""
        if not self.continuations or not all(self.continuations):
            msg = f"score needs at least one continuation and none empty; got {self.continuations!r}"
            raise SettingsError(msg)
        if self.top and len(self.continuations) > 1:
            msg = f"score returns the top tokens of one continuation; got {self.continuations!r}"
            raise SettingsError(msg)


Request: TypeAlias = Generate | Score

#: Tokens of a written continuation, with a word or a mark before it.
_WRITTEN = 16


def written(score: Score, *, grammar: bool, logprobs: bool = False) -> Generate:
    """Return the request to write one of the continuations of a score; `grammar`: held to them by a grammar."""
    allowed = "root ::= " + " | ".join(json.dumps(text, ensure_ascii=False) for text in score.continuations)
    return Generate(prompt=score.prompt, max_tokens=_WRITTEN, logprobs=logprobs, grammar=allowed if grammar else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The reply to one request.

    `logprobs` (natural logarithm): of each continuation, summed over its tokens, for a `Score`, with the end of turn if
    that was requested; of each generated token for a `Generate` with `logprobs`. `likelihoods`: of each continuation of
    a `Score`. `joules`: the energy of its tokens, 0 if unknown. `top`: the most probable tokens at each place, for a
    `Score` with `top`. `finish`: `length`: cut off at the maximum number of tokens; `overflow`: the prompt exceeds the
    context.
    """

    text: str = ""
    logprobs: tuple[float, ...] = ()
    likelihoods: tuple[Likelihood, ...] = ()
    top: tuple[TopTokens, ...] = ()
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)
    joules: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what servers send and no run can keep, with an `EngineError`."""
        msg = ""
        if not isinstance(self.text, str):
            msg = f"a Response's text is {self.text!r}; expected a string, empty if there is none"
        elif self.finish not in _FINISHES:
            msg = f"a Response's finish is {self.finish!r}; expected one of {', '.join(_FINISHES)}"
        elif any(value is None or not value < math.inf for value in self.logprobs):
            msg = f"a Response's logprobs are {self.logprobs!r:.80}; expected numbers, -inf for a probability of 0"
        if msg:
            raise EngineError(msg)

    @property
    def truncated(self) -> bool:
        """Whether the text was cut off, so that its last word may be incomplete."""
        return self.finish in TRUNCATED


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of a conversation.

    `value` is the answer as the scenario spells it, `None` after a parse failure; `probabilities` maps every valid
    label to its probability if the strategy computes them. `likelihoods`: of each choice, or of each reference, in the
    order of the sample; `unconditional`: the same without the question. `failure` is the cause of a missing value, in
    one word; if empty, it is derived from the last responses. `tries`: the number of attempts,
    of which this is the last.
    """

    value: str | None
    responses: tuple[Response, ...]
    probabilities: Mapping[str, float] | None = None
    failure: str = ""
    likelihoods: tuple[Likelihood, ...] = ()
    unconditional: tuple[Likelihood, ...] = ()
    tries: int = 1

    def __post_init__(self) -> None:
        """Refuse a single response that is not in a tuple."""
        responses: object = self.responses
        if not isinstance(responses, (tuple, list)) or not all(
            isinstance(response, Response) for response in responses
        ):
            msg = f"Answer(responses=...) is a {type(responses).__name__}; expected a tuple: responses=(response,)"
            raise SettingsError(msg)


#: A single request receives a `Response`, a tuple of requests a tuple of them; no type can express this.
Conversation: TypeAlias = Generator[Request | tuple[Request, ...], Any, Answer]


def ask(request: Request) -> Generator[tuple[Request, ...], tuple[Response, ...], Response]:
    """Send one request and return its response: `response = yield from ask(request)`."""
    (response,) = yield (request,)
    return response


def ask_all(requests: Iterable[Request]) -> Generator[tuple[Request, ...], tuple[Response, ...], tuple[Response, ...]]:
    """Send any number of requests at once; return the responses: `responses = yield from ask_all(requests)`."""
    asked = tuple(requests)
    return (yield asked) if asked else ()
