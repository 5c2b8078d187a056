"""Likelihoods of choices: how they are normalised, and which choice is the best.

Lengths are those of the text of a choice as the data has it, without the space before it in a prompt. In a partial
evaluation, where the text behind the choice is scored, they are those of that text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from pytest_puma.core import Likelihood, Prediction, Sample

#: From a sample and its prediction to a number for each choice, in the order of the data.
Normalised: TypeAlias = Callable[[Sample, Prediction], list[float]]


def sums(sample: Sample, prediction: Prediction) -> list[float]:
    """Return the log-probability of each choice, without the end of turn."""
    return [likelihood.total for _, likelihood in _pairs(sample, prediction)]


def per_character(sample: Sample, prediction: Prediction) -> list[float]:
    """Return the log-probability of each choice divided by its characters: lm-evaluation-harness' `acc_norm`."""
    return [each.total / max(1, len(text)) for text, each in _pairs(sample, prediction)]


def per_byte(sample: Sample, prediction: Prediction) -> list[float]:
    """Return the log-probability of each choice divided by its bytes in UTF-8: `acc_bytes`."""
    return [each.total / max(1, size(text)) for text, each in _pairs(sample, prediction)]


def per_token(sample: Sample, prediction: Prediction) -> list[float]:
    """Return the log-probability of each choice divided by its tokens."""
    return [each.total / max(1, each.tokens) for _, each in _pairs(sample, prediction)]


def gains(sample: Sample, prediction: Prediction) -> list[float]:
    """Return how much the question adds to the log-probability of each choice: `acc_mutual_info`."""
    alone = [likelihood.total for likelihood in prediction.unconditional]
    return [total - before for total, before in zip(sums(sample, prediction), alone, strict=True)]


def size(text: str) -> int:
    """Return the number of bytes of a text in UTF-8; a lone surrogate has three."""
    return len(text.encode("utf-8", "surrogatepass"))


def best(values: Sequence[float]) -> int:
    """Return the place of the largest value, the first of several."""
    return max(range(len(values)), key=values.__getitem__)


def softmax(values: Sequence[float]) -> list[float]:
    """Return probabilities proportional to the exponentials, which may all be too small for a float."""
    highest = max(values)
    exponentials = [math.exp(value - highest) for value in values]
    total = math.fsum(exponentials)
    return [each / total for each in exponentials]


def scored_texts(sample: Sample, prediction: Prediction) -> list[str]:
    """Return the text to which each likelihood belongs: of the choices, or what follows each of them."""
    scored = prediction.continuations
    if len(scored) == len(sample.choices) and all(len(each) == 1 for each in scored):
        return [each[0].strip() for each in scored]
    return [choice.text for choice in sample.choices]


def _pairs(sample: Sample, prediction: Prediction) -> list[tuple[str, Likelihood]]:
    """The text of each likelihood beside it."""
    return list(zip(scored_texts(sample, prediction), prediction.likelihoods, strict=True))
