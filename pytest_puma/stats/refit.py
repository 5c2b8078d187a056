"""Temperature scaling of label probabilities, and the Brier score after it.

A change of the prompt may make all probabilities flatter or sharper without making any answer worse. The exponent
`beta`, an inverse temperature, removes that effect: it is fitted to each set of answers before two sets are compared.
Source: C. Guo et al., "On calibration of modern neural networks", ICML 2017; the loss is that of G. W. Brier,
"Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pytest_puma.stats.arrays import Indices, Values

#: The candidate exponents. A fit at either end shows that the probabilities carry little information.
BETAS = np.geomspace(0.1, 4.0, 40)
#: Minimum logarithm: a probability of 0 would stay 0 under every exponent.
_MIN_LOG = -32.0


class Refit(NamedTuple):
    """The Brier score of each sample under the best exponent."""

    beta: float
    losses: Values

    @property
    def at_edge(self) -> bool:
        """Whether the best exponent is at an end of the range."""
        return self.beta in {BETAS[0], BETAS[-1]}


def refit(probabilities: Values, gold: Indices) -> Refit:
    """Fit the exponent to rows of label probabilities (samples x labels) and the index of each row's gold label."""
    losses = tempered_losses(probabilities, gold)
    best = int(losses.sum(axis=1).argmin())
    return Refit(beta=float(BETAS[best]), losses=losses[best])


def tempered_losses(probabilities: Values, gold: Indices) -> Values:
    """Return the Brier score of each sample under each exponent: exponents x samples."""
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(probabilities), _MIN_LOG)
    powers = np.exp(BETAS[:, None, None] * (logs - logs.max(axis=1, keepdims=True)))
    shares = powers / powers.sum(axis=2, keepdims=True)
    truth = gold[:, None] == np.arange(probabilities.shape[1])
    losses: Values = np.square(shares - truth).sum(axis=2)
    return losses


def skill(losses: Values, gold: Indices) -> float:
    """Return the Brier skill score: 1 without loss, 0 at the loss of a constant prediction of the label frequencies."""
    shares = np.bincount(gold) / max(len(gold), 1)
    prior = 1.0 - float(np.square(shares).sum())
    return 1.0 - float(losses.mean()) / prior if prior > 0 else 0.0
