"""The power of a gate on a change: the probability that it FAILs if the metric is truly worse.

The power is stated for a loss that matters: 5 points of a metric with bounds, a tenth of any other, or twice the
allowance of the gate. A loss of 5 points changes more than 5 % of the answers: a share of `CHANGED` is assumed to go
from right to wrong or back, as in falls of 4 to 7 points on real changed runs (`tools/statistics/power.py`), or the
observed share if that is greater. The power of `no_drift` is for a series of `RENEWALS`, each with a small loss.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

from pytest_puma.core import REGRESSION_LEVEL, Change, Decline, Gate, Power
from pytest_puma.core.gate import DRIFT
from pytest_puma.core.power import TARGET_POWER
from pytest_puma.stats import LEVEL
from pytest_puma.stats.cusum import effect_of_cusum, power_of_cusum
from pytest_puma.stats.power import detectable, power_of_interval, power_of_mcnemar, samples_needed

CHANGED = 0.12
#: Assumptions of the power of `no_drift`: the number of renewals, the loss of each (of a metric with bounds, and as a
#: share of the error), and the share of answers that have changed after all of them (`tools/statistics/drift.py`).
RENEWALS, STEP, STEP_SHARE, DRIFTED = 12, 0.01, 0.02, 0.3
POINTS, SHARE = 0.05, 0.1
#: Effective sample size of `no_regression` with label probabilities, as a factor.
PROBABILITY_GAIN = 1.25
_FLOORS = (">=", ">")
_MIN_CHANGED = 5
_TEST_LEVEL = 1 - 2 * REGRESSION_LEVEL


def of_change(gate: Gate, change: Change, *, level: float = LEVEL) -> Power | None:
    """Power of a limit on a change, with the observed spread; None if there is none."""
    observed = change.worse + change.better
    changed = None if change.graded else max(CHANGED, observed / change.n)
    reach = min(change.value - change.low, change.high - change.value) or (change.high - change.low) / 2
    error = reach / NormalDist().inv_cdf((1 + level) / 2)
    if changed is not None:
        error = (
            error * math.sqrt(changed * change.n / observed)
            if observed >= _MIN_CHANGED
            else math.sqrt(changed / change.n)
        )
    if not error > 0:
        return None
    if change.scored and not change.share and not gate.quotient:
        return _of_score(gate, change, error=error, level=level)
    exact = change.test == "mcnemar"
    return _of_limit(
        gate, change.old, error=error, n=change.n, changed=changed, share=change.share, exact=exact, level=level
    )


def of_plan(gate: Gate, *, n: int, share: bool, exact: bool, old: float, error: float) -> Power | None:
    """Power of a gate before the run: from `CHANGED` for a metric with bounds, else from its standard `error`."""
    if gate.word:
        return _of_word(gate, n) if share else None
    changed = CHANGED if share else None
    error = math.sqrt(CHANGED / n) if share else error
    if not error > 0:
        return None
    return _of_limit(gate, old, error=error, n=n, changed=changed, share=share, exact=exact, level=LEVEL)


def _of_word(gate: Gate, n: int) -> Power:
    """Power of a one-word gate on labels, from answers alone."""
    if gate.word == DRIFT:
        effect = RENEWALS * STEP * math.sqrt(n / DRIFTED)
        return _of_series(n, loss=RENEWALS * STEP, effect=effect, changed=DRIFTED, at_least=True)
    return _of_test(n, effective=float(n), changed=CHANGED, at_least=True)


def of_decline(decline: Decline, old: float) -> Power | None:
    """Power of `no_regression`; `old` is the earlier mean error if answers are numbers."""
    n = decline.n
    if decline.graded:
        error, loss = decline.error, SHARE * old
        if not (error > 0 and loss > 0):
            return None
        needed = n * (detectable(error, level=_TEST_LEVEL) / loss) ** 2
        caught = power_of_interval(loss=loss, error=error, level=_TEST_LEVEL)
        return Power(loss=SHARE, relative=True, caught=caught, n=n, needed=needed)
    changed = max(CHANGED, (decline.worse + decline.better) / n)
    return _of_test(n, effective=_effective(decline), changed=changed)


def _effective(decline: Decline) -> float:
    """Effective number of samples: label probabilities add to it, shared units reduce it."""
    return decline.n * (1.0 if decline.alone else PROBABILITY_GAIN) / _design_effect(decline)


def _design_effect(decline: Decline) -> float:
    """Variance inflation of rows that share units, whose answers change together."""
    n, changed = decline.n, decline.worse + decline.better
    independent = changed / n - ((decline.worse - decline.better) / n) ** 2
    return max(1.0, decline.error**2 * n / independent) if changed >= _MIN_CHANGED and independent > 0 else 1.0


def of_drift(decline: Decline, old: float) -> Power | None:
    """Power of `no_drift`: the probability that a series of renewals FAILs if each has a small loss."""
    n = decline.n
    if decline.graded:
        loss, error = RENEWALS * STEP_SHARE * old, decline.error
        return _of_series(n, loss=RENEWALS * STEP_SHARE, effect=loss / error, relative=True) if error and loss else None
    effect = RENEWALS * STEP * math.sqrt(_effective(decline) / DRIFTED)
    return _of_series(n, loss=RENEWALS * STEP, effect=effect, changed=DRIFTED)


def _of_series(
    n: int, *, loss: float, effect: float, relative: bool = False, changed: float | None = None, at_least: bool = False
) -> Power:
    return Power(
        loss=loss,
        relative=relative,
        caught=power_of_cusum(effect, steps=RENEWALS),
        n=n,
        needed=n * (effect_of_cusum(TARGET_POWER, steps=RENEWALS) / effect) ** 2,
        changed=changed,
        at_least=at_least,
        renewals=RENEWALS,
    )


def _of_test(n: int, *, effective: float, changed: float, at_least: bool = False) -> Power:
    return Power(
        loss=POINTS,
        relative=False,
        caught=_mcnemar(int(effective), POINTS, changed, _TEST_LEVEL, mid=True),
        n=n,
        needed=_needed(POINTS, changed, _TEST_LEVEL, mid=True) / (effective / n),
        changed=changed,
        at_least=at_least,
    )


def _of_score(gate: Gate, change: Change, *, error: float, level: float) -> Power | None:
    """Power of a limit on a score without bounds, whose value may be negative: the loss is in its own unit."""
    allowed = allowance(gate)
    loss = max(SHARE * abs(change.old), 2 * allowed)
    margin = loss - allowed
    if not margin > 0:
        return None
    caught = power_of_interval(loss=margin, error=error, level=level)
    needed = change.n * (detectable(error, level=level) / margin) ** 2
    return Power(loss=loss, relative=False, caught=caught, n=change.n, needed=needed, metric=gate.metric)


def _of_limit(
    gate: Gate, old: float, *, error: float, n: int, changed: float | None, share: bool, exact: bool, level: float
) -> Power | None:
    relative = gate.quotient or not share
    unit = 1.0 if gate.quotient or share else abs(old)
    if not unit > 0:
        return None
    allowed = allowance(gate) / unit
    loss = max(SHARE if relative else POINTS, 2 * allowed)
    margin = (loss - allowed) * unit
    caught = power_of_interval(loss=margin, error=error, level=level)
    needed = n * (detectable(error, level=level) / margin) ** 2
    if exact and not relative and not allowed and changed is not None:
        # The interval never contradicts the exact test, which is stricter if few answers change.
        caught = min(caught, _mcnemar(n, loss, changed, level, mid=False))
        needed = max(needed, _needed(loss, changed, level, mid=False))
    return Power(loss=loss, relative=relative, caught=caught, n=n, needed=needed, changed=changed)


def allowance(gate: Gate) -> float:
    """Allowed loss of the metric against the other; a share of it if the gate is a quotient."""
    step = gate.limit - 1 if gate.quotient else gate.limit
    return -step if gate.op in _FLOORS else step


@lru_cache
def _mcnemar(n: int, loss: float, changed: float, level: float, *, mid: bool) -> float:
    return power_of_mcnemar(loss=loss, changed=changed, n=n, level=level, mid=mid)


@lru_cache
def _needed(loss: float, changed: float, level: float, *, mid: bool) -> float:
    return samples_needed(lambda n: power_of_mcnemar(loss=loss, changed=changed, n=n, level=level, mid=mid))
