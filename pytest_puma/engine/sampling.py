"""Sampling: from a row of logits to a token. Pure numpy; every request brings its own random generator.

The filters apply in llama.cpp's order: top-k, top-p, min-p, then temperature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import EngineError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Number of best tokens that top-p sorts first.
FIRST_SORTED = 1000
#: Tokens per block: the block of the sampled token is found first, then the token within it.
BLOCK = 512


def best_token(logits: NDArray[np.float32]) -> int:
    """Return the most probable token, the lowest id on a tie; an `EngineError` if a logit is not a number."""
    # Not-a-numbers and infinities come first.
    best = int(logits.argmax())
    if not np.isfinite(logits[best]):
        msg = (
            f"the model computed {logits[best]} in place of a logit; expected finite numbers: its weights are damaged, "
            "an adapter or a control vector on them is too strong, or numbers grow too large on this device; download "
            "the file again, take a smaller strength, or use the CPU with gpu_layers=0"
        )
        raise EngineError(msg)
    return best


def choose(
    logits: NDArray[np.float32],
    *,
    temperature: float,
    top_k: int,
    top_p: float,
    min_p: float,
    random: np.random.Generator,
    mask: NDArray[np.bool_] | None = None,
) -> int:
    """Return the next token, as `best_token` with temperature 0; an `EngineError` if a logit is not a number."""
    best = best_token(logits)
    if mask is not None:
        logits = np.where(mask, logits, -np.inf)
        best = int(logits.argmax())
    if temperature == 0:
        return best
    if not top_k and top_p >= 1:
        return _sample_all(logits, logits[best], temperature, min_p, random)
    tokens, probabilities = _filtered(logits, top_k, top_p)
    keep = probabilities >= min_p * probabilities[0]
    bounds = np.cumsum(softmax(logits[tokens[keep]] / np.float64(temperature)))
    index = np.searchsorted(bounds, random.random() * bounds[-1], side="right")
    return int(tokens[keep][min(index, len(bounds) - 1)])


def _filtered(logits: NDArray[np.float32], top_k: int, top_p: float) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The fewest of the `top_k` best tokens whose total probability reaches `top_p`, with it, best first."""
    count = top_k or FIRST_SORTED
    whole = None if top_k else np.exp(logits - logits.max()).sum(dtype=np.float64)
    while True:
        tokens = best_tokens(logits, count)
        weights = np.exp(logits[tokens].astype(np.float64) - logits[tokens[0]])
        mass = weights.sum() if whole is None else whole
        before = np.cumsum(weights) - weights
        # A few best tokens nearly always reach the mass; sorting a whole vocabulary takes longer than all the rest.
        if top_k or count >= len(logits) or before[-1] >= top_p * mass:
            reached = before < top_p * mass if top_p < 1 else np.ones(len(tokens), dtype=np.bool_)
            return tokens[reached], weights[reached] / mass
        count *= 8


def best_tokens(logits: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Ids of the `count` highest logits, highest first, the lowest id on a tie; without impossible tokens."""
    threshold = np.partition(logits, -count)[-count] if count < len(logits) else -np.inf
    tokens = np.flatnonzero((logits >= threshold) & (logits > -np.inf))
    return tokens[np.argsort(-logits[tokens], kind="stable")][:count]


def _sample_all(
    logits: NDArray[np.float32], top: np.float32, temperature: float, min_p: float, random: np.random.Generator
) -> int:
    """Sample a token without sorting a vocabulary of 150,000: first a block, then a token within it.

    `top`: the highest logit.
    """
    weights = logits - top
    if min_p:
        weights[weights < np.log(min_p)] = -np.inf
    # In index: a new array for each operation would cost more than the operation itself.
    weights /= np.float32(temperature)
    np.exp(weights, out=weights)
    bounds = np.add.reduceat(weights, np.arange(0, len(weights), BLOCK), dtype=np.float64).cumsum()
    # Rounded up to the very end, the point would lie beyond the last token.
    point = min(random.random() * bounds[-1], np.nextafter(bounds[-1], 0.0))
    block = int(bounds.searchsorted(point, side="right"))
    within = weights[block * BLOCK : (block + 1) * BLOCK].cumsum(dtype=np.float64)
    index = within.searchsorted(max(0.0, point - bounds[block] + within[-1]), side="right")
    return block * BLOCK + min(int(index), int(within.argmax()))


def log_probabilities(logits: NDArray[np.float32], tokens: NDArray[np.intp] | list[int]) -> NDArray[np.float64]:
    """Return the log-probability of each of the tokens under the full softmax.

    Only the sum is in double precision: a vocabulary of 150,000 then takes a fifth of the time, and the result is as
    precise as the logits.
    """
    top = logits.max()
    total = np.exp(logits - top).sum(dtype=np.float64)
    return np.asarray(logits[tokens].astype(np.float64) - float(top) - np.log(total), dtype=np.float64)


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of a row of logits."""
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)
