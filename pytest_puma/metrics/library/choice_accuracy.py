"""Accuracy of the choice with the highest likelihood, under several conventions of what the length of a choice costs.

`accuracy` itself belongs to the kind of task: there the strategy chooses, by the sum.
"""

from __future__ import annotations

from collections.abc import Callable

from pytest_puma.core import Metric, Prediction, Sample
from pytest_puma.metrics.library import likelihoods
from pytest_puma.metrics.library.likelihoods import Normalised

_CONVENTIONS: dict[str, Normalised] = {
    "accuracy_chars": likelihoods.per_character,
    "accuracy_bytes": likelihoods.per_byte,
    "accuracy_tokens": likelihoods.per_token,
}


def _accuracy(normalised: Normalised) -> Callable[[Sample, Prediction], float]:
    """Return the score function: 1 if the best choice is a right one; of equally good ones the first counts."""

    def score(sample: Sample, prediction: Prediction) -> float:
        return float(sample.choices[likelihoods.best(normalised(sample, prediction))].right)

    return score


METRICS = (
    *(
        Metric(
            name=name,
            score=_accuracy(normalised),
            needs=frozenset({"likelihoods"}),
            kinds=frozenset({"choice"}),
        )
        for name, normalised in _CONVENTIONS.items()
    ),
    Metric(
        name="accuracy_uncond",
        score=_accuracy(likelihoods.gains),
        needs=frozenset({"likelihoods", "unconditional"}),
        kinds=frozenset({"choice"}),
    ),
)
