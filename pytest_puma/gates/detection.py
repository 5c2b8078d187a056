"""The detection of a loss by a gate on a change: its probability, the sample size that it needs, the smallest loss.

A plan, a verdict and the lines about power at the end of a run all use this.

A loss that matters is `POINTS` of the range of a metric, or `SHARE` of a metric without one. More answers move than are
lost: in falls of 4 to 7 points on real changed runs (`tools/statistics/power.py`), a share of `CHANGED` went from right
to wrong or back. So much is assumed to move, or as much as did if that is more; a greater loss moves more by the
difference. Movement that was not observed is assumed to consist of changes of the size `Spread.unseen`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_puma.core import Change, Decline
from pytest_puma.core.change import Spread
from pytest_puma.core.power import TARGET_POWER
from pytest_puma.stats import LEVEL
from pytest_puma.stats.power import Rule, power_of_changes, samples_needed, smallest_loss

CHANGED = 0.12
POINTS, SHARE = 0.05, 0.1
#: The greatest loss of a metric without bounds, in losses that matter.
_MOST = 100
#: Powers of numbers that differ by rounding alone are computed once.
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A metric of `n` samples that a gate compares with its value in the past, `old`.

    `exact`: its test is McNemar's; `scored`: its losses are its own scores.
    """

    metric: str
    n: int
    old: float
    spread: Spread
    exact: bool = False
    scored: bool = False

    @classmethod
    def of(cls, change: Change) -> Compared | None:
        """The metric of a change; None if its spread is unknown."""
        if change.spread is None:
            return None
        names = ("metric", "n", "old", "spread", "scored")
        return cls(exact=change.test == "mcnemar", **{name: getattr(change, name) for name in names})

    @classmethod
    def by(cls, decline: Decline, change: Change | None) -> Compared:
        """The losses that a test compares; `change` is that of their metric."""
        metric, old, scored = ("", 0.0, False) if change is None else (change.metric, change.old, change.scored)
        return cls(metric=metric, n=decline.n, old=old, spread=decline.spread, scored=scored)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """A gate as a test of losses.

    `spread`: of the observed change; `matters`: the loss that matters; `allowed`: the loss that the gate allows;
    `gain`: the number of samples with answers alone that are worth one sample; `movement`: the minimum movement of
    answers for each lost one.
    """

    spread: Spread
    matters: float
    movement: float = CHANGED / POINTS
    allowed: float = 0.0
    level: float = LEVEL
    rules: tuple[Rule, ...] = ("interval",)
    gain: float = 1.0

    @property
    def known(self) -> bool:
        """Whether anything is known of the size of a loss and of the changes that make it."""
        return self.spread.n >= 1 and self.matters > 0 and max(self.spread.size, self.spread.unseen) > 0

    def caught(self, loss: float, *, n: float | None = None) -> float:
        """Return the probability that the gate FAILs if its metric is worse by this; `n` questions, or the observed."""
        moved, size = self._assumed(loss)
        return power_of_changes(
            self.gain * (self.spread.n if n is None else n),
            loss=round(loss / size, _DIGITS),
            changed=round(moved / size, _DIGITS),
            allowed=round(self.allowed / size, _DIGITS),
            level=self.level,
            rules=self.rules,
        )

    def changed(self, loss: float) -> float:
        """Return the share of the answers that is assumed to change."""
        moved, size = self._assumed(loss)
        return min(1.0, moved / size)

    def needed(self, loss: float, *, power: float = TARGET_POWER) -> float:
        """Return the number of independent questions for a power."""
        return samples_needed(lambda n: self.caught(loss, n=n / self.gain), target=power) / self.gain

    def effect(self, loss: float) -> float:
        """Return a loss over its standard error."""
        moved, size = self._assumed(loss)
        return loss / math.sqrt(moved * size / (self.gain * self.spread.n))

    def smallest(self) -> float | None:
        """Return the smallest loss with a power of 80 %; None if there is none."""
        most = self.spread.width or _MOST * self.matters
        return smallest_loss(self.caught, above=self.allowed, most=self.allowed + most)

    def _assumed(self, loss: float) -> tuple[float, float]:
        """The mean movement of a question, and the typical size of a change, which is no less than the loss."""
        spread, minimum = self.spread, self.movement * self.matters
        moved = max(minimum, spread.moved)
        size = (spread.moved * spread.size + (moved - spread.moved) * spread.unseen) / moved
        moved += max(0.0, loss - self.matters)
        return min(moved, spread.width or moved), max(size, abs(loss))
