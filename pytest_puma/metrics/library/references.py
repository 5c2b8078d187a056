"""Comparison of a text with each of a sample's references; the best one counts."""

from __future__ import annotations

from collections.abc import Callable

from pytest_puma.core import Direction, Prediction, Sample


def best(
    compare: Callable[[str, str], float], better: Direction = "high"
) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function of a comparison of (text, reference): the best value over all references.

    None for a sample without references.
    """
    choose = min if better == "low" else max

    def score(sample: Sample, prediction: Prediction) -> float | None:
        return choose((compare(prediction.text, each) for each in sample.references), default=None)

    return score
