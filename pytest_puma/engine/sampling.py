"""From a row of logits to a token. Pure numpy; every request brings its own random generator.

The filters act in llama.cpp's order: top-k, top-p, min-p, then temperature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Tokens whose logit lies this far under the best one have a probability below 1e-13: not worth sorting.
FAR = 30.0


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
    """The next token. Temperature 0 takes the most probable one, the lowest id on a tie."""
    if mask is not None:
        logits = np.where(mask, logits, -np.inf)
    if temperature == 0:
        return int(logits.argmax())
    tokens = np.flatnonzero(logits >= logits.max() - FAR * max(1.0, temperature))
    tokens = tokens[np.argsort(-logits[tokens], kind="stable")]
    if top_k:
        tokens = tokens[:top_k]
    scaled = logits[tokens].astype(np.float64)
    probabilities = softmax(scaled)
    # Keep the smallest set that reaches top_p, and what is at least min_p times as likely as the best.
    keep = probabilities >= min_p * probabilities[0]
    if top_p < 1:  # A rounded sum reaches 1 before the last tokens, which matter at high temperatures.
        keep &= np.cumsum(probabilities) - probabilities < top_p
    bounds = np.cumsum(softmax(scaled[keep] / temperature))
    drawn = np.searchsorted(bounds, random.random() * bounds[-1], side="right")
    return int(tokens[keep][min(drawn, len(bounds) - 1)])


def log_probabilities(logits: NDArray[np.float32], tokens: NDArray[np.intp] | list[int]) -> NDArray[np.float64]:
    """The log-probability of each of the tokens under the full softmax, summed in double precision."""
    row = logits.astype(np.float64)
    top = row.max()
    return np.asarray(row[tokens] - top - np.log(np.exp(row - top).sum()), dtype=np.float64)


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of a row of logits."""
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)
