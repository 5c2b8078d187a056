"""Metrics of choices, from their likelihoods or probabilities: accuracies, and scores of "I don't know".

The accuracies differ in what the length of a choice costs; `accuracy` itself belongs to the kind of task: there the
strategy chooses, by the sum. Lengths are those of the text of a choice as the data has it, without the space before it
in a prompt. In a partial evaluation, where the text behind the choice is scored, they are those of that text.

`*_chars` divide log-probabilities by characters first. The other scores take the log-probabilities of the choices'
texts, or else the probabilities that the strategy gives, such as those of letters.

Sources: A. Kalai et al., "Why language models hallucinate", 2025 (`ternary`); T. Burns, "Measuring language model
hallucinations through distributional correctness", 2025.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from pytest_puma.core import Likelihood, Metric, Prediction, Sample, SettingsError
from pytest_puma.core.metric import Source

#: The length of a text, which has this likelihood.
Length: TypeAlias = Callable[[str, Likelihood], int]
#: From a sample and its prediction to a number for each choice, in the order of the data.
_Numbers: TypeAlias = Callable[[Sample, Prediction], list[float]]
_Shares: TypeAlias = Callable[[Sample, Prediction], "list[float] | None"]


def sums(sample: Sample, prediction: Prediction) -> list[float]:
    """Return the log-probability of each choice, without the end of turn."""
    return [likelihood.total for _, likelihood in _pairs(sample, prediction)]


def per(length: Length) -> _Numbers:
    """Return the function for the log-probability of each choice divided by its length."""

    def normalised(sample: Sample, prediction: Prediction) -> list[float]:
        pairs = _pairs(sample, prediction)
        return [likelihood.total / max(1, length(text, likelihood)) for text, likelihood in pairs]

    return normalised


def characters(text: str, _: Likelihood) -> int:
    """Return the number of characters: lm-evaluation-harness' `acc_norm`."""
    return len(text)


def size_in_bytes(text: str, _: Likelihood) -> int:
    """Return the number of bytes in UTF-8, `acc_bytes`; a lone surrogate has three."""
    return len(text.encode("utf-8", "surrogatepass"))


def tokens(_: str, likelihood: Likelihood) -> int:
    """Return the number of tokens."""
    return likelihood.tokens


def gains(sample: Sample, prediction: Prediction) -> list[float]:
    """Return how much the question adds to the log-probability of each choice: `acc_mutual_info`."""
    alone = [likelihood.total for likelihood in prediction.unconditional]
    return [total - before for total, before in zip(sums(sample, prediction), alone, strict=True)]


def best(values: Sequence[float]) -> int:
    """Return the index of the largest value, the first of several."""
    return max(range(len(values)), key=values.__getitem__)


def softmax(values: Sequence[float]) -> list[float]:
    """Return probabilities proportional to the exponentials, which may all be too small for a float."""
    highest = max(values)
    exponentials = [math.exp(value - highest) for value in values]
    total = math.fsum(exponentials)
    return [exponential / total for exponential in exponentials]


def scored_texts(sample: Sample, prediction: Prediction) -> list[str]:
    """Return the text to which each likelihood belongs: of the choices, or what follows each of them."""
    scored = [turn.continuations for turn in prediction.transcript.turns]
    if len(scored) == len(sample.choices) and all(len(texts) == 1 for texts in scored):
        return [texts[0].strip() for texts in scored]
    return [choice.text for choice in sample.choices]


def _pairs(sample: Sample, prediction: Prediction) -> list[tuple[str, Likelihood]]:
    """The text of each likelihood beside it."""
    return list(zip(scored_texts(sample, prediction), prediction.likelihoods, strict=True))


def _accuracy(normalised: _Numbers) -> Callable[[Sample, Prediction], float]:
    """Return the score function: 1 if the best choice is a right one; of equally good ones the first counts."""

    def score(sample: Sample, prediction: Prediction) -> float:
        return float(sample.choices[best(normalised(sample, prediction))].right)

    return score


def by_sums(sample: Sample, prediction: Prediction) -> list[float] | None:
    """Return the probability of each choice, in the order of the data; None if there are none."""
    if prediction.likelihoods:
        return softmax(sums(sample, prediction))
    if prediction.probabilities:
        return [prediction.probabilities[choice.text] for choice in sample.choices]
    return None


def by_characters(sample: Sample, prediction: Prediction) -> list[float] | None:
    """Return the same of log-probabilities divided by characters; None without likelihoods."""
    return softmax(per(characters)(sample, prediction)) if prediction.likelihoods else None


def probability_mass(sample: Sample, shares: Sequence[float]) -> float:
    """Return the probability of all right choices."""
    return _mass(share for choice, share in zip(sample.choices, shares, strict=True) if choice.right)


def confidence_weighted(sample: Sample, shares: Sequence[float]) -> float:
    """Return the probability of the most probable choice if it is right, else 0."""
    chosen = best(shares)
    return min(1.0, shares[chosen]) if sample.choices[chosen].right else 0.0


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


_METRIC = partial(Metric, kinds=frozenset({"choice"}))
_ACCURACIES: tuple[tuple[str, Length, Source], ...] = (
    ("chars", characters, "answers"),
    ("bytes", size_in_bytes, "answers"),
    ("tokens", tokens, "tokens"),
)
_SCORES = ((probability_mass, (0.0, 1.0)), (confidence_weighted, (0.0, 1.0)), (distributional_correctness, (-1.0, 1.0)))

METRICS = (
    *(
        _METRIC(name=f"accuracy_{unit}", score=_accuracy(per(length)), needs=frozenset({"likelihoods"}), source=source)
        for unit, length, source in _ACCURACIES
    ),
    _METRIC(name="accuracy_uncond", score=_accuracy(gains), needs=frozenset({"likelihoods", "unconditional"})),
    *(
        _METRIC(name=f"{score.__name__}{suffix}", score=_of(shares, score), bounds=bounds)
        for score, bounds in _SCORES
        for suffix, shares in (("", by_sums), ("_chars", by_characters))
    ),
    _METRIC(name="ternary", score=ternary, bounds=(-1.0, 1.0)),
)
