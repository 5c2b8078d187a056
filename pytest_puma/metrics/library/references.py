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
        return choose((compare(prediction.text, reference) for reference in sample.references), default=None)

    return score


def by_line(
    compare: Callable[[str, str], float], *, none: float, better: Direction = "high"
) -> Callable[[str, str], float]:
    """Return a comparison of the best line of a text with a reference, as if the others were only talk around it.

    `none`: the value of a text without any line.
    """
    choose = min if better == "low" else max

    def score(text: str, reference: str) -> float:
        # Each line once: a model that repeats itself writes thousands of equal ones.
        lines = dict.fromkeys(filter(str.strip, text.splitlines()))
        return choose((compare(line, reference) for line in lines), default=none)

    return score
