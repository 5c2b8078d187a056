"""Whether answers became worse since a baseline, tested from one side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: A regression is found where `Decline.p` is at most this: so rare are false alarms where nothing became worse.
REGRESSION_LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Decline:
    """The one-sided test that `n` answers are worse than older ones to the same samples.

    `worse` and `better` count answers that went from right to wrong and back; where answers are `numbers`, those
    farther off and nearer. `p` is that of all `tests` together, which have their own by name. `loss` is the mean rise
    of the Brier score, each side's probabilities at the temperature that fits them best, None where they do not count:
    then `alone` says why. `error` is the standard error of the change in the error rate, or in the mean error. `same`:
    nothing changed at all.
    """

    n: int
    worse: int
    better: int
    p: float
    tests: Mapping[str, float] = field(default_factory=dict)
    loss: float | None = None
    alone: str = ""
    error: float = 0.0
    numbers: bool = False
    same: bool = False

    @property
    def found(self) -> bool:
        """Whether it is a regression."""
        return self.p <= REGRESSION_LEVEL
