"""Scores of the probabilities of the choices, and of the choice to say "I don't know".

`*_chars` divide log-probabilities by characters first. The others take the log-probabilities of the choices' texts, or
else the probabilities that the strategy gives, such as those of letters.

Sources: A. Kalai et al., "Why language models hallucinate", 2025 (`ternary`); T. Burns, "Measuring language model
hallucinations through distributional correctness", 2025.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from pytest_puma.core import Metric, Prediction, Sample, SettingsError
from pytest_puma.metrics.library import likelihoods

_Shares: TypeAlias = Callable[[Sample, Prediction], list[float] | None]
_CHOICE = frozenset({"choice"})


def by_sums(sample: Sample, prediction: Prediction) -> list[float] | None:
    """Return the probability of each choice, in the order of the data; None if there are none."""
    if prediction.likelihoods:
        return likelihoods.softmax(likelihoods.sums(sample, prediction))
    if prediction.probabilities:
        return [prediction.probabilities[choice.text] for choice in sample.choices]
    return None


def by_characters(sample: Sample, prediction: Prediction) -> list[float] | None:
    """Return the same of log-probabilities divided by characters; None without likelihoods."""
    return likelihoods.softmax(likelihoods.per_character(sample, prediction)) if prediction.likelihoods else None


def probability_mass(sample: Sample, shares: Sequence[float]) -> float:
    """Return the probability of all right choices."""
    return _mass(share for choice, share in zip(sample.choices, shares, strict=True) if choice.right)


def confidence_weighted(sample: Sample, shares: Sequence[float]) -> float:
    """Return the probability of the most probable choice if it is right, else 0."""
    best = likelihoods.best(shares)
    return min(1.0, shares[best]) if sample.choices[best].right else 0.0


def distributional_correctness(sample: Sample, shares: Sequence[float]) -> float:
    """Return (p(right) - p(wrong)) * (1 - p(I don't know)), from -1 to 1."""
    _check_idk(sample, "distributional_correctness")
    pairs = list(zip(sample.choices, shares, strict=True))
    right = probability_mass(sample, shares)
    idk = _mass(share for choice, share in pairs if choice.idk)
    wrong = _mass(share for choice, share in pairs if not choice.right and not choice.idk)
    return (right - wrong) * (1.0 - idk)


def ternary(sample: Sample, prediction: Prediction) -> float:
    """Return 1 for a right answer, 0 for "I don't know", -1 for a wrong one and for a parse failure."""
    _check_idk(sample, "ternary")
    for choice in sample.choices:
        if choice.text == prediction.answer:
            return 1.0 if choice.right else 0.0 if choice.idk else -1.0
    return -1.0


def _of(shares: _Shares, score: Callable[[Sample, Sequence[float]], float]) -> Callable[..., float | None]:
    """Return the score function of these probabilities; None for a prediction without them."""

    def of_prediction(sample: Sample, prediction: Prediction) -> float | None:
        probabilities = shares(sample, prediction)
        return None if probabilities is None else score(sample, probabilities)

    return of_prediction


def _mass(shares: Iterable[float]) -> float:
    """The sum of probabilities, never above 1 by rounding."""
    return min(1.0, math.fsum(shares))


def _check_idk(sample: Sample, metric: str) -> None:
    if not any(choice.idk for choice in sample.choices):
        msg = (
            f'{metric}: no choice of sample {sample.id!r} stands for "I don\'t know"; '
            'expected one: set `idk` of the scenario to its text, as in idk = "I do not know."'
        )
        raise SettingsError(msg)


_SCORES = (
    (probability_mass, (0.0, 1.0)),
    (confidence_weighted, (0.0, 1.0)),
    (distributional_correctness, (-1.0, 1.0)),
)

METRICS = (
    *(
        Metric(name=f"{score.__name__}{suffix}", score=_of(shares, score), bounds=bounds, kinds=_CHOICE)
        for score, bounds in _SCORES
        for suffix, shares in (("", by_sums), ("_chars", by_characters))
    ),
    Metric(name="ternary", score=ternary, bounds=(-1.0, 1.0), kinds=_CHOICE),
)
