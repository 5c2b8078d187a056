"""What a `Score` gives: the log-probability of a continuation, and the most probable tokens at its places.

And what follows from those of two models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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

    tokens: Sequence[int]
    logprobs: Sequence[float]


class Divergence(NamedTuple):
    """How far a variant of a model is from the plain one at a place.

    `nats`: a lower bound of the Kullback-Leibler divergence; `same_top`: both have the same most probable token.
    """

    nats: float
    same_top: bool
