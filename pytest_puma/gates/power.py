"""The power of a gate on a change: the probability that it FAILs if the metric is truly worse.

A plan, a verdict and the lines about power at the end of a run all use this.

Power is stated for a loss that matters, or for twice the allowance of the gate if that is more. A loss that matters is
`POINTS` of the range of a metric, or `SHARE` of a metric without one. More answers move than are lost: in falls of 4 to
7 points on real changed runs (`tools/statistics/power.py`), a share of `CHANGED` went from right to wrong or back. As
much is assumed to move, or the observed movement if that is more; a greater loss moves more by the difference. Movement
that was not observed is assumed to consist of changes of the size `Spread.unseen`.

The power of `no_drift` is for a series of `RENEWALS`, each with a small loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from pytest_puma.core import LEVEL, REGRESSION_LEVEL, Change, Decline, Gate, Power
from pytest_puma.core.change import Spread
from pytest_puma.core.gate import DRIFT
from pytest_puma.core.power import TARGET_POWER
from pytest_puma.stats.arrays import typical_difference
from pytest_puma.stats.power import Rule, cusum_effect, cusum_power, power_of_changes, samples_needed, smallest_loss

CHANGED = 0.12
POINTS, SHARE = 0.05, 0.1
#: Assumptions of the power of `no_drift`: the number of renewals, the loss of each (of a metric with bounds, and as a
#: share of the error), and the share of answers that have changed after all of them (`tools/statistics/drift.py`).
RENEWALS, STEP, STEP_SHARE, DRIFTED = 12, 0.01, 0.02, 0.3
#: Effective sample size of `no_regression` with label probabilities, as a factor.
PROBABILITY_GAIN = 1.25
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
        return cls(
            metric=change.metric,
            n=change.n,
            old=change.old,
            spread=change.spread,
            exact=change.test == "mcnemar",
            scored=change.scored,
        )

    @classmethod
    def by(cls, decline: Decline, change: Change | None) -> Compared:
        """The losses that a test compares; `change` is that of their metric."""
        if change is None:
            return cls(metric="", n=decline.n, old=0.0, spread=decline.spread)
        return cls(metric=change.metric, n=decline.n, old=change.old, spread=decline.spread, scored=change.scored)

    @classmethod
    def before(cls, golds: Sequence[float]) -> Compared:
        """The mean absolute error before a run, from the gold answers.

        The losses are assumed to be those of one answer to all samples, with a correlation of one half to the losses
        before.
        """
        losses = np.abs(np.array(golds) - median(golds))
        size = typical_difference(losses)
        moved = float(losses.var()) / size if size else 0.0
        spread = Spread(n=len(golds), moved=moved, size=size, unseen=size, width=0.0)
        return cls(metric="mae", n=len(golds), old=fmean(losses), spread=spread)


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

    def of_series(self, loss: float) -> tuple[float, float]:
        """Return the power of a series whose renewals share the loss, and the number of questions for 80 %."""
        moved, size = self._assumed(loss)
        effect = loss / math.sqrt(moved * size / (self.gain * self.spread.n))
        wanted = cusum_effect(TARGET_POWER, steps=RENEWALS)
        return cusum_power(effect, steps=RENEWALS), self.spread.n * (wanted / effect) ** 2

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


def of_gate(
    gate: Gate, compared: Compared, *, level: float = LEVEL, gain: float = 1.0, at_least: bool = False
) -> Power | None:
    """Return the power of a gate on a baseline, before a run or after it; None if too little is known.

    `gain`: the number of samples with answers alone that are worth one sample; `at_least`: there may be such a gain.
    """
    detection, spread = detection_of(gate, compared, level=level, gain=gain), compared.spread
    if not detection.known:
        return None
    loss = max(detection.matters, 2 * detection.allowed)
    if gate.word == DRIFT:
        caught, needed = detection.of_series(loss)
    else:
        caught, needed = detection.caught(loss), detection.needed(loss)
    unit, metric = _unit(gate, compared)
    return Power(
        loss=loss / unit,
        relative=not metric and (gate.quotient or not spread.width),
        caught=caught,
        n=compared.n,
        needed=needed * compared.n / spread.n,
        changed=detection.changed(loss) if spread.width else None,
        at_least=at_least,
        renewals=RENEWALS if gate.word == DRIFT else None,
        metric=metric,
    )


def detection_of(gate: Gate, compared: Compared, *, level: float = LEVEL, gain: float = 1.0) -> Detection:
    """Return the gate as a test of losses in the unit of its metric; a series as one test of all its losses."""
    spread, old = compared.spread, abs(compared.old)
    if gate.word == DRIFT:
        loss = RENEWALS * (STEP * spread.width or STEP_SHARE * old)
        return Detection(spread=spread, matters=loss, movement=DRIFTED / (RENEWALS * STEP), gain=gain)
    matters = POINTS * spread.width if spread.width and not gate.quotient else SHARE * old
    if gate.word:
        return Detection(spread=spread, matters=matters, level=1 - 2 * REGRESSION_LEVEL, rules=("mid_p",), gain=gain)
    allowed = allowance(gate) * (old if gate.quotient else 1.0)
    # An interval never contradicts the exact test, which is stricter if few answers change.
    rules: tuple[Rule, ...] = ("exact", "interval") if compared.exact and allowed >= 0 else ("interval",)
    return Detection(spread=spread, matters=matters, allowed=allowed, level=level, rules=rules)


def _unit(gate: Gate, compared: Compared) -> tuple[float, str]:
    """The unit in which a loss is stated, and the metric if it is that of this metric, which has no points."""
    width = compared.spread.width
    if gate.quotient or not (width or compared.scored):
        return abs(compared.old), ""
    return 1.0, "" if width == 1 else compared.metric


def allowance(gate: Gate) -> float:
    """Allowed loss of the metric against the other; a share of it if the gate is a quotient."""
    step = gate.limit - 1 if gate.quotient else gate.limit
    return -step if gate.is_floor else step


def may_be_unseen(gate: Gate, change: Change, level: float = LEVEL) -> bool:
    """Whether no sample changed, and these are too few to rule out the gain that a gate demands.

    If none of *n* samples changed, up to 1 - ((1 - level) / 2)^(1/n) of all may (Clopper, Pearson 1934).
    """
    if change.changed or change.low != change.high or allowance(gate) >= 0:
        return False
    width = 0.0 if change.spread is None else change.spread.width
    gain = -allowance(gate) / (1.0 if gate.quotient else width or abs(change.old) or math.inf)
    n = change.n if change.spread is None else change.spread.n
    return n > 0 and gain <= 1 - ((1 - level) / 2) ** (1 / n)
