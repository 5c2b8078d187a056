"""What a `Score` gives: the log-probability of a continuation, and the most probable tokens at its places."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    Ints: TypeAlias = array[int]
    Floats: TypeAlias = array[float]
else:  # before Python 3.12 the class takes no subscript, and the types of fields are looked up when an outcome is read
    Ints = Floats = array
#: The most places of a continuation whose top tokens are returned.
POSITIONS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """Log-probability of a continuation after its prompt, in nats.

    `total`: the sum over its tokens. `end`: that of the end of turn after it, None if it was not requested. `tokens`:
    the number of tokens. `greedy`: each of them is the most probable one at its place.
    """

    total: float
    end: float | None
    tokens: int
    greedy: bool


@dataclass(frozen=True, slots=True)
class TopTokens:
    """The most probable tokens at a place, the most probable one first, with their log-probabilities in nats."""

    tokens: Ints
    logprobs: Floats
