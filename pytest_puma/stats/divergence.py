"""The divergence of two distributions over a vocabulary, each known by its most probable tokens alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: Added to the probability of the tokens that a list lacks: below it, a sum of 32-bit numbers is rounding.
_ROUNDING = 1e-7
#: Factors of the ratio of both rests among which the best bound is searched.
_FACTORS = np.exp(np.linspace(-3.0, 3.0, 121))


def kl_divergence(
    tokens: Sequence[int], logprobs: Sequence[float], other_tokens: Sequence[int], other_logprobs: Sequence[float]
) -> float:
    """Return the Kullback-Leibler divergence of the other distribution from the first one, in nats: a lower bound.

    Each list has the most probable tokens, best first. The tokens that both have are counted one by one. A token that
    one of them lacks has at most the least probability of that list; all further ones are counted together, as by the
    data processing inequality they can only be less apart than their parts are. Of all distributions with these lists,
    the least divergence follows from the ratio of their rests, by Lagrange's duality: any ratio gives a lower bound,
    and the largest bound counts.
    """
    _, mine, others = np.intersect1d(tokens, other_tokens, assume_unique=True, return_indices=True)
    old, new = np.asarray(logprobs, dtype=np.float64), np.asarray(other_logprobs, dtype=np.float64)
    both = float(np.exp(old[mine]) @ (old[mine] - new[others]))
    return max(0.0, both + _of_others(old, np.delete(old, mine), new, np.delete(new, others)))


def _of_others(
    old: NDArray[np.float64], old_only: NDArray[np.float64], new: NDArray[np.float64], new_only: NDArray[np.float64]
) -> float:
    """The part of all tokens that are not in both lists; `*_only`: the log-probabilities of those in one list alone."""
    rest, other_rest = (_ROUNDING + max(0.0, 1.0 - float(np.exp(side).sum())) for side in (old, new))
    whole, other_whole = rest + float(np.exp(old_only).sum()), other_rest + float(np.exp(new_only).sum())
    ratio = np.log(other_whole / whole * _FACTORS)[:, None]
    # The tokens of one list alone have the ratio, too, unless their unknown probability would be too large.
    lacked, other_lacked = np.minimum(new[-1], old_only + ratio), np.minimum(old[-1], new_only - ratio)
    bounds = (
        (np.exp(old_only) * (old_only - lacked) + np.exp(lacked - ratio)).sum(axis=1)
        + (np.exp(other_lacked) * (other_lacked - new_only + ratio - 1)).sum(axis=1)
        + (rest * (1 - ratio) - other_rest * np.exp(-ratio))[:, 0]
    )
    return float(bounds.max())
