"""The one-sided test for a decline since a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_puma.core.spread import Spread

#: A regression is detected if `Decline.p` is at most this: the false alarm rate if nothing became worse.
REGRESSION_LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Decline:
    """One-sided test for `n` answers that are worse than older answers to the same samples.

    `worse` and `better` count answers that went from right to wrong and back; if answers are `graded`, those that
    moved away from the gold label and towards it. `p` is the combined p-value; `tests` has that of each test by name.
    `loss` is the mean rise of the Brier score, with the probabilities of each side at their best-fitting temperature;
    None if only answers count, for the reason `alone`. `spread`: how far the losses moved. `same`: nothing changed at
    all. `several`: questions have several trials, and are counted in place of answers: those with fewer right answers,
    and those with more.
    """

    n: int
    worse: int
    better: int
    p: float
    spread: Spread
    tests: Mapping[str, float] = field(default_factory=dict)
    loss: float | None = None
    alone: str = ""
    graded: bool = False
    same: bool = False
    several: bool = False

    @property
    def is_regression(self) -> bool:
        """Whether the test detects a regression."""
        return self.p <= REGRESSION_LEVEL
