"""Draws from simulated populations: gold answers, and the answers of two systems.

Half of the luck is shared: a sample that is hard for one system is hard for the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_puma.core import MODEL, Prediction, Response, Scenario, Transcript, Usage

POINTS = (1, 2, 3, 5, 8, 13, 21, 34)
FEW_LARGE = (0.22, 0.2, 0.22, 0.2, 0.11, 0.04, 0.01, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Drawn samples: golds, and for each system answers (None: not parsed), probabilities and tokens.

    `units`, `subjects`: of each sample.
    """

    golds: Sequence[str]
    answers: Sequence[Sequence[str | None]]
    probabilities: Sequence[Sequence[Sequence[float]]] | None = None
    tokens: Sequence[Sequence[int]] | None = None
    units: tuple[str, ...] | None = None
    subjects: Sequence[str] | None = None

    def predictions(self, scenario: Scenario, system: int) -> list[Prediction]:
        """Return the predictions of a system."""
        labels = scenario.valid_labels()
        probabilities = None if self.probabilities is None else self.probabilities[system]
        return [
            Prediction(
                sample_id=str(row),
                gold=gold,
                answer=answer,
                probabilities=None if probabilities is None else dict(zip(labels, probabilities[row], strict=True)),
                transcripts={MODEL: _transcript(0 if self.tokens is None else self.tokens[system][row])},
                units=(str(row) if self.units is None else self.units[row],),
                groups={} if self.subjects is None else {"subject": self.subjects[row]},
            )
            for row, (gold, answer) in enumerate(zip(self.golds, self.answers[system], strict=True))
        ]


def _transcript(tokens: int) -> Transcript:
    return Transcript.of(Response(usage=Usage(decoded_tokens=tokens)))


def _luck(random: np.random.Generator, hard: np.ndarray) -> np.ndarray:
    return np.where(random.random(len(hard)) < 0.5, hard, random.random(len(hard)))  # noqa: PLR2004 - half


def _texts(numbers: np.ndarray, parsed: np.ndarray | None = None) -> list[str | None]:
    texts: list[str | None] = [f"{number:g}" for number in numbers.tolist()]
    return texts if parsed is None else [text if each else None for text, each in zip(texts, parsed, strict=True)]


def classifier(
    shares: Sequence[float], rates: Sequence[float], *, unparsed: float = 0.0, pairs: bool = False
) -> Callable[[np.random.Generator, int], Rows]:
    """Answers with these accuracies; a wrong one is more often a neighbouring class than a far one.

    `unparsed`: the share of answers that are not parsed, the hardest ones. `pairs`: both orders of a pair are rows,
    with the same answer in four of five pairs.
    """

    def draw(random: np.random.Generator, n: int) -> Rows:
        each = n // 2 if pairs else n
        gold, hard = random.choice(len(shares), each, p=shares), random.random(each)
        answers = []
        for rate in rates:
            luck = _luck(random, hard)
            if pairs:
                luck = np.concatenate([luck, np.where(random.random(each) < 0.8, luck, random.random(each))])  # noqa: PLR2004
            right = np.tile(gold, 2) if pairs else gold
            step = random.choice([-1, 1, 2], len(right), p=[0.45, 0.45, 0.1])
            # A step beyond the scale goes in the other direction.
            wrong = np.where((right + step >= 0) & (right + step < len(shares)), right + step, right - step)
            wrong = np.clip(wrong, 0, len(shares) - 1)
            answers.append(_texts(np.where(luck < rate, right, wrong), luck < 1 - unparsed))
        golds = _texts(np.tile(gold, 2) if pairs else gold)
        tokens = [(1 + random.negative_binomial(2, 0.2, len(golds))).tolist() for _ in rates]
        units = tuple(str(row % each) for row in range(len(golds))) if pairs else None
        return Rows(golds=[str(gold) for gold in golds], answers=answers, tokens=tokens, units=units)

    return draw


def of_subjects(
    shares: Sequence[float], draw: Callable[[np.random.Generator, int], Rows]
) -> Callable[[np.random.Generator, int], Rows]:
    """The same rows, each of a subject; `shares` are those of the subjects."""

    def drawn(random: np.random.Generator, n: int) -> Rows:
        return replace(draw(random, n), subjects=random.choice(len(shares), n, p=shares).astype(str).tolist())

    return drawn


def prober(
    sharpness: float, confidence: float, labels: Sequence[int] = range(4)
) -> Callable[[np.random.Generator, int], Rows]:
    """Probabilities that are calibrated where `confidence` is 1, and too sure above; the second system adds noise."""
    classes, names = len(labels), np.array(labels)

    def draw(random: np.random.Generator, n: int) -> Rows:
        logits = random.normal(0, sharpness, (n, classes))
        truth = _softmax(logits)
        gold = (random.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, classes - 1)
        noisy = [confidence * logits, confidence * (logits + random.normal(0, 0.3 * sharpness, logits.shape))]
        probabilities = [_softmax(each) for each in noisy]
        return Rows(
            golds=[str(each) for each in names[gold].tolist()],
            answers=[_texts(names[each.argmax(axis=1)]) for each in probabilities],
            probabilities=[each.tolist() for each in probabilities],
        )

    return draw


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: np.ndarray = powers / powers.sum(axis=1, keepdims=True)
    return shares


def estimator(*spreads: float, exact: float = 0.0, unparsed: float = 0.0) -> Callable[[np.random.Generator, int], Rows]:
    """Story points, and answers some places off on their scale; shares of exact answers, and of the worst, unparsed."""

    def draw(random: np.random.Generator, n: int) -> Rows:
        places, shared, hard = random.choice(len(POINTS), n, p=FEW_LARGE), random.normal(size=n), random.random(n)
        points, answers = np.array(POINTS), []
        for width in spreads:
            off = width * (shared + random.normal(size=n)) / math.sqrt(2)
            off[_luck(random, hard) < exact] = 0.0
            place = np.clip(np.rint(places + off), 0, len(POINTS) - 1).astype(int)
            parsed = np.abs(off) < np.quantile(np.abs(off), 1 - unparsed) if unparsed else None
            answers.append(_texts(points[place], parsed))
        return Rows(golds=[str(point) for point in points[places].tolist()], answers=answers)

    return draw


def heavy(sigma: float) -> Callable[[np.random.Generator, int], Rows]:
    """Numbers around 10, and answers with lognormal errors."""

    def draw(random: np.random.Generator, n: int) -> Rows:
        gold, shared = np.round(random.normal(10, 3, n), 3), random.normal(size=n)
        sign = random.choice([-1, 1], n)
        answers = [
            _texts(gold + sign * np.exp(sigma * (shared + random.normal(size=n)) / math.sqrt(2)), None)
            for _ in range(2)
        ]
        return Rows(golds=[f"{each:g}" for each in gold.tolist()], answers=answers)

    return draw
