"""Populations of two equally good systems, for the simulation of false alarms.

The error rates of both systems are the same. Their answers may contain parse failures, rows that share units, label
probabilities, or the noise of a repeated run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import MODEL, Prediction, Response, Transcript

#: The index of an answer that is a parse failure.
UNPARSED = -1
POINTS = ("1", "2", "3", "5", "8", "13", "21")
_SHARES = (0.22, 0.2, 0.22, 0.2, 0.11, 0.04, 0.01)
#: Share of the rows of one unit with the answer of the other rows.
_ALIKE = 0.8

Values: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRuns:
    """A sample with two runs: indices of the gold labels and of the answers, label probabilities, unit of each row."""

    gold: Places
    new: Places
    old: Places
    shares: tuple[Values, Values] | None = None
    units: Places | None = None

    def predictions(self, labels: Sequence[str]) -> tuple[list[Prediction], list[Prediction]]:
        """Return the predictions of the new and of the old run."""
        shares = (None, None) if self.shares is None else self.shares
        new, old = (self._side(labels, *each) for each in zip((self.new, self.old), shares, strict=True))
        return new, old

    def _side(self, labels: Sequence[str], places: Places, shares: Values | None) -> list[Prediction]:
        return [
            Prediction(
                sample_id=str(row),
                gold=labels[self.gold[row]],
                answer=None if place == UNPARSED else labels[place],
                probabilities=None if shares is None else dict(zip(labels, shares[row].tolist(), strict=True)),
                transcripts={MODEL: Transcript.of(Response(finish="stop" if shares is None else "scored"))},
                units=(str(row if self.units is None else self.units[row]),),
            )
            for row, place in enumerate(places.tolist())
        ]

    @property
    def changes(self) -> tuple[int, int]:
        """The numbers of answers that became wrong, and right."""
        was, now = self.old == self.gold, self.new == self.gold
        return int((was & ~now).sum()), int((now & ~was).sum())


_Draw: TypeAlias = Callable[[np.random.Generator, int], PairedRuns]


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """A source of samples of two equally good systems, and the gates to simulate."""

    scenario: str
    draw: _Draw
    gates: tuple[str, ...]


# -- the populations ---------------------------------------------------------------------------------


def _labels(random: np.random.Generator, n: int, *, right: float, unparsed: float = 0.0) -> PairedRuns:
    """Four labels; both systems have the same luck in six tenths of the samples."""
    gold, hard = random.integers(0, 4, n), random.random(n)
    new, old = (
        np.where(
            random.random(n) < unparsed,
            UNPARSED,
            _answers(random, gold, np.where(random.random(n) < 0.6, hard, random.random(n)) < right),  # noqa: PLR2004
        )
        for _ in range(2)
    )
    return PairedRuns(gold=gold, new=new, old=old)


def _rerun(random: np.random.Generator, n: int, *, again: float) -> PairedRuns:
    """A repeated run, with a share of the answers drawn again."""
    gold = random.integers(0, 4, n)
    old, other = (_answers(random, gold, random.random(n) < 0.8) for _ in range(2))  # noqa: PLR2004
    return PairedRuns(gold=gold, new=np.where(random.random(n) < again, other, old), old=old)


def _orders(random: np.random.Generator, n: int) -> PairedRuns:
    """Each sample twice, as with both orders of a pair; most of them have equal answers."""
    half = _labels(random, -(-n // 2), right=0.8)
    rows = np.arange(n) // 2
    gold = half.gold[rows]
    new, old = (
        np.where(random.random(n) < _ALIKE, side[rows], _answers(random, gold, random.random(n) < 0.8))  # noqa: PLR2004
        for side in (half.new, half.old)
    )
    return PairedRuns(gold=gold, new=new, old=old, units=rows)


def _answers(random: np.random.Generator, gold: Places, right: NDArray[np.bool_]) -> Places:
    return np.where(right, gold, (gold + random.integers(1, 4, len(gold))) % 4)


def scored(random: np.random.Generator, n: int, *, apart: float, sharpness: float = 1.0) -> PairedRuns:
    """Runs with label probabilities: both systems see the gold label through shared noise, and own noise `apart`."""
    gold = random.integers(0, 4, n)
    seen = 2.2 * np.eye(4)[gold] + random.normal(0, 1, (n, 4))
    new, old = (times * (seen + random.normal(0, apart, (n, 4))) for times in (sharpness, 1.0))
    shares = tuple(np.exp(each) / np.exp(each).sum(axis=1, keepdims=True) for each in (new, old))
    return PairedRuns(gold=gold, new=new.argmax(axis=1), old=old.argmax(axis=1), shares=(shares[0], shares[1]))


def _points(
    random: np.random.Generator, n: int, *, unparsed: float = 0.0, again: float = 1.0, hardest: bool = False
) -> PairedRuns:
    """Story points, and answers wrong by some places; `hardest`: parse failures in the hardest tenth of the old run."""
    gold, shared = random.choice(len(POINTS), n, p=_SHARES), random.normal(size=n)
    new, old = (
        np.clip(np.rint(gold + (shared + random.normal(size=n)) / math.sqrt(2)), 0, len(POINTS) - 1).astype(np.intp)
        for _ in range(2)
    )
    new = np.where(random.random(n) < again, new, old)
    if hardest:
        old = np.where(np.abs(shared) >= np.quantile(np.abs(shared), 0.9), UNPARSED, old)
    new, old = (np.where(random.random(n) < unparsed, UNPARSED, each) for each in (new, old))
    return PairedRuns(gold=gold, new=new, old=old)


_ANSWERS = ("accuracy >= baseline", "no_regression")
_ALL = ("accuracy >= baseline", "brier <= baseline", "no_regression")
_ERRORS = ("mae <= baseline", "no_regression")
POPULATIONS: Mapping[str, Population] = {
    name: Population(scenario=scenario, draw=draw, gates=gates)
    for name, scenario, draw, gates in (
        ("right in .80", "triage_jira", partial(_labels, right=0.8), _ANSWERS),
        ("right in .50", "triage_jira", partial(_labels, right=0.5), _ANSWERS),
        ("right in .97", "triage_jira", partial(_labels, right=0.97), _ANSWERS),
        ("10 % parse failures in each run", "triage_jira", partial(_labels, right=0.8, unparsed=0.1), _ANSWERS),
        ("2 % of answers redrawn", "triage_jira", partial(_rerun, again=0.02), _ANSWERS),
        ("20 % of answers redrawn", "triage_jira", partial(_rerun, again=0.2), _ANSWERS),
        ("both orders of a pair", "triage_jira", _orders, _ANSWERS),
        ("label probabilities", "triage_jira", partial(scored, apart=0.7), _ALL),
        ("half as sharp as before", "triage_jira", partial(scored, apart=0.7, sharpness=0.5), _ANSWERS),
        ("logits moved by .003", "triage_jira", partial(scored, apart=0.003), _ALL),
        ("story points", "estimation_tawos", _points, _ERRORS),
        ("2 % of points redrawn", "estimation_tawos", partial(_points, again=0.02), _ERRORS),
        ("10 % of points not parsed in each run", "estimation_tawos", partial(_points, unparsed=0.1), _ERRORS),
        ("the hardest tenth not parsed before", "estimation_tawos", partial(_points, hardest=True), _ERRORS),
    )
}
