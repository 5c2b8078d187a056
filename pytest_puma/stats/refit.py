"""Probabilities with the sharpness that fits them best, and the Brier score that is left of them.

A change of the prompt may make all probabilities flatter or sharper, and no answer worse. The exponent `beta`, an
inverse temperature, takes that away: it is fitted to each set of answers before two sets are compared. Source: C. Guo
et al., "On calibration of modern neural networks", ICML 2017 (temperature scaling); the loss is that of G. W. Brier,
"Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[np.float64]

#: The exponents that are tried. At either end, the fit says that the probabilities mean little.
BETAS = np.geomspace(0.1, 4.0, 40)
#: No logarithm is smaller: a probability of 0 would stay one under every exponent.
_LEAST = -32.0


class Refit(NamedTuple):
    """The Brier score of each sample under the best exponent."""

    beta: float
    losses: Values

    @property
    def at_edge(self) -> bool:
        """Whether no exponent within the range is best."""
        return self.beta in {BETAS[0], BETAS[-1]}


def refit(probabilities: Values, gold: NDArray[np.intp]) -> Refit:
    """Fit the exponent to rows of label probabilities (samples x labels) and the index of each row's gold label."""
    losses = tempered_losses(probabilities, gold)
    best = int(losses.sum(axis=1).argmin())
    return Refit(beta=float(BETAS[best]), losses=losses[best])


def tempered_losses(probabilities: Values, gold: NDArray[np.intp]) -> Values:
    """The Brier score of each sample under each exponent: exponents x samples."""
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(probabilities), _LEAST)
    powers = np.exp(BETAS[:, None, None] * (logs - logs.max(axis=1, keepdims=True)))
    shares = powers / powers.sum(axis=2, keepdims=True)
    truth = gold[:, None] == np.arange(probabilities.shape[1])
    losses: Values = np.square(shares - truth).sum(axis=2)
    return losses


def skill(losses: Values, gold: NDArray[np.intp]) -> float:
    """The Brier skill score: 1 at no loss, 0 where it is that of always saying how frequent the labels are."""
    shares = np.bincount(gold) / max(len(gold), 1)
    prior = 1.0 - float(np.square(shares).sum())
    return 1.0 - float(losses.mean()) / prior if prior > 0 else 0.0
