"""What a gate on a change can see, and what the gates of a run can do by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

#: The power that sample sizes are stated for.
WANTED = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """The probability that a gate FAILs where its metric is truly worse by `loss`.

    `caught` is that probability with `n` samples, `needed` the samples for which it is 80 %, infinite where no number
    is enough. `loss` is a share of the old value where `relative`. `changed` is the share of answers that is taken to
    turn from right to wrong or back, None where answers are numbers. `at_least`: the gate has a second test, which adds
    to this one. `renewals`: of a series of baselines, so many of which bring the loss about together.
    """

    loss: float
    relative: bool
    caught: float
    n: int
    needed: float
    changed: float | None = None
    at_least: bool = False
    renewals: int | None = None

    def __str__(self) -> str:
        """`a loss of 5 points is caught in 23 % of runs at n=50; 80 % needs about 470 samples (...)`."""
        least = "at least " if self.at_least else ""
        assumed = "" if self.changed is None else f" (where {percent(self.changed)} of the answers change)"
        among = "runs" if self.renewals is None else "series"
        return (
            f"{self.lost} is caught in {least}{percent(self.caught)} of {among} at n={self.n}; {self._sizes}{assumed}"
        )

    @property
    def lost(self) -> str:
        """The loss in words."""
        over = "" if self.renewals is None else f" over {self.renewals} renewals"
        return f"a loss of {100 * self.loss:.3g} {'%' if self.relative else 'points'}{over}"

    @property
    def _sizes(self) -> str:
        if math.isinf(self.needed):
            return f"no number of samples gives {percent(WANTED)}"
        least = "at most " if self.at_least else "about "
        return f"{percent(WANTED)} needs {least}{rounded_up(self.needed)} samples"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The gates of a run: how many were judged, how many of these could not decide, and false alarms by chance.

    `on_change` counts the judged gates that are tests of a change. `false_alarm` is the probability that at least one
    of them FAILs where nothing became worse, as if they were independent; it cannot be above `at_most`, their sum.
    """

    judged: int
    undecided: int
    on_change: int
    false_alarm: float
    at_most: float


def percent(share: float) -> str:
    """`23 %`."""
    return f"{100 * share:.0f} %"


def rounded_up(number: float) -> str:
    """To two digits: 470, 1,300."""
    step = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return f"{math.ceil(number / step) * step:,}"
