"""What a strategy and the engine say to each other: requests one way, responses the other.

A strategy is a generator. It yields a request and is sent its response, or yields a tuple of requests, which are
computed together, and is sent the tuple of their responses; it returns an `Answer`:

    def direct(task: Task) -> Conversation:
        response = yield task.generate(task.prompt())
        return Answer(value=task.read(response.text), responses=(response,))

`ask` and `ask_all` do the same in a form that type checkers follow: `response = yield from ask(request)`.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pytest_puma.core.errors import SettingsError, check_limits

Role: TypeAlias = Literal["system", "user", "assistant"]
Finish: TypeAlias = Literal["stop", "length", "context", "scored", "overflow"]
#: Replies that were cut off: by the limit of tokens, or by the end of the context.
TRUNCATED = frozenset({"length", "context"})
#: Beyond these a sampler has nothing left to choose from, or everything.
MOST_TEMPERATURE, LEAST_TOP_P = 100, 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The text of a request. The backend applies the model's own chat template.

    `prefill` is the beginning of the assistant's turn, put into its mouth; `stop` are strings
    at which generation ends (they are not part of the response).
    """

    messages: tuple[Message, ...]
    prefill: str = ""
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """How to decode. `None` leaves the choice to the strategy.

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
        """Refuse what no sampler can obey."""
        check_limits(
            {
                "max_tokens": (self.max_tokens, 1, math.inf),
                "temperature": (self.temperature, 0, MOST_TEMPERATURE),
                "top_p": (self.top_p, LEAST_TOP_P, 1),
                "top_k": (self.top_k, 0, math.inf),
                "min_p": (self.min_p, 0, 1),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Generate:
    """Ask for text. `seed` is this request's own; two requests that differ only in it may differ in their text."""

    prompt: Prompt
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int = 0
    grammar: str | None = None
    logprobs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Ask for the log-probability of each continuation, as the whole answer: its end of turn is scored too."""

    prompt: Prompt
    continuations: tuple[str, ...]

    def __post_init__(self) -> None:
        """An empty list or an empty continuation has no probability to report."""
        if not self.continuations or not all(self.continuations):
            msg = f"score needs at least one continuation and none empty; got {self.continuations!r}"
            raise SettingsError(msg)


Request: TypeAlias = Generate | Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What answering cost. Additive: `sum(usages, Usage())`.

    `cached_tokens` of the `prompt_tokens` were already in the cache; `seconds` is the time from
    admission to the end of the response (other requests run in the same batch meanwhile).
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    decoded_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Field by field."""
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            decoded_tokens=self.decoded_tokens + other.decoded_tokens,
            seconds=self.seconds + other.seconds,
        )

    @classmethod
    def total(cls, usages: Iterable[Usage]) -> Usage:
        """The sum of any number of usages."""
        return sum(usages, cls())


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """What was computed and how long it took: batches that read prompts, and those of one token for each reply.

    Additive, as `Usage` is. Tokens of scored continuations count as read.
    """

    read_tokens: int = 0
    read_seconds: float = 0.0
    written_tokens: int = 0
    written_seconds: float = 0.0

    def __add__(self, other: Speed) -> Speed:
        """Field by field."""
        return Speed(
            read_tokens=self.read_tokens + other.read_tokens,
            read_seconds=self.read_seconds + other.read_seconds,
            written_tokens=self.written_tokens + other.written_tokens,
            written_seconds=self.written_seconds + other.written_seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The engine's reply to one request.

    `logprobs` (natural logarithm): of each continuation, summed over its tokens, for a `Score`;
    of each generated token for a `Generate` that asked for them. `finish` is `overflow` when the
    prompt is longer than the context: then nothing was computed.
    """

    text: str = ""
    logprobs: tuple[float, ...] = ()
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a strategy makes of its responses.

    `value` is the answer as the scenario spells it, `None` when it could not be read;
    `probabilities` maps every valid label to its probability where the strategy knows them. `failure` is the cause of
    a missing value, in one word; left empty, it is found out from the last responses.
    """

    value: str | None
    responses: tuple[Response, ...]
    probabilities: Mapping[str, float] | None = None
    failure: str = ""

    def __post_init__(self) -> None:
        """A lone response is no tuple."""
        responses: object = self.responses
        if not isinstance(responses, (tuple, list)) or not all(isinstance(each, Response) for each in responses):
            msg = f"Answer(responses=...) is a {type(responses).__name__}; expected a tuple: responses=(response,)"
            raise SettingsError(msg)


#: What is sent is a `Response` to each lone request, a tuple of them to each tuple: no type says so.
Conversation: TypeAlias = Generator[Request | tuple[Request, ...], Any, Answer]


def ask(request: Request) -> Generator[tuple[Request, ...], tuple[Response, ...], Response]:
    """One request, one response: `response = yield from ask(request)`."""
    (response,) = yield (request,)
    return response


def ask_all(requests: Iterable[Request]) -> Generator[tuple[Request, ...], tuple[Response, ...], tuple[Response, ...]]:
    """Several requests at once, answered in the same order: `responses = yield from ask_all(requests)`."""
    return (yield tuple(requests))
