"""The divergence of two distributions over a vocabulary, each known by its most probable tokens alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: The least probability of the tokens that a list lacks: below it, a sum of 32-bit numbers is rounding.
_LEAST_REST = 1e-7


def kl_divergence(
    tokens: Sequence[int], logprobs: Sequence[float], other_tokens: Sequence[int], other_logprobs: Sequence[float]
) -> float:
    """Return the Kullback-Leibler divergence of the other distribution from the first one, in nats: a lower bound.

    The tokens that both lists have are counted one by one, all others together. By the data processing inequality,
    what is counted together can only be less apart than its parts are.
    """
    _, mine, others = np.intersect1d(tokens, other_tokens, assume_unique=True, return_indices=True)
    old = np.asarray(logprobs, dtype=np.float64)[mine]
    new = np.asarray(other_logprobs, dtype=np.float64)[others]
    rest, other_rest = (max(_LEAST_REST, 1.0 - float(np.exp(values).sum())) for values in (old, new))
    divergence = float(np.exp(old) @ (old - new)) + rest * float(np.log(rest / other_rest))
    return max(0.0, divergence)
