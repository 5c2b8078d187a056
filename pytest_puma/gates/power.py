"""The power of a gate on a change: the probability that it FAILs if the metric is truly worse.

It is stated for a loss that matters, or for twice the allowance of the gate if that is more. The power of `no_drift` is
for a series of `RENEWALS`, each with a small loss.
"""

from __future__ import annotations

from pytest_puma.core import REGRESSION_LEVEL, Gate, Power
from pytest_puma.core.gate import DRIFT
from pytest_puma.core.power import TARGET_POWER
from pytest_puma.gates.detection import POINTS, SHARE, Compared, Detection
from pytest_puma.stats import LEVEL
from pytest_puma.stats.cusum import effect_of_cusum, power_of_cusum
from pytest_puma.stats.power import Rule

#: Assumptions of the power of `no_drift`: the number of renewals, the loss of each (of a metric with bounds, and as a
#: share of the error), and the share of answers that have changed after all of them (`tools/statistics/drift.py`).
RENEWALS, STEP, STEP_SHARE, DRIFTED = 12, 0.01, 0.02, 0.3
#: Effective sample size of `no_regression` with label probabilities, as a factor.
PROBABILITY_GAIN = 1.25
_FLOORS = (">=", ">")
_TEST_LEVEL = 1 - 2 * REGRESSION_LEVEL
_TEST: tuple[Rule, ...] = ("mid_p",)


def of_gate(
    gate: Gate, compared: Compared, *, level: float = LEVEL, gain: float = 1.0, at_least: bool = False
) -> Power | None:
    """Return the power of a gate on a baseline, before a run or after it; None if too little is known.

    `gain`: the number of samples with answers alone that are worth one sample; `at_least`: there may be such a gain.
    """
    series = gate.word == DRIFT
    detection = (_series if series else detection_of)(gate, compared, level=level, gain=gain)
    if not detection.known:
        return None
    loss = max(detection.matters, 2 * detection.allowed)
    unit, metric = _unit(gate, compared)
    caught, needed = (_of_series if series else _of_test)(detection, loss)
    return Power(
        loss=loss / unit,
        relative=not metric and (gate.quotient or not compared.spread.width),
        caught=caught,
        n=compared.n,
        needed=needed * compared.n / compared.spread.n,
        changed=detection.changed(loss) if compared.spread.width else None,
        at_least=at_least,
        renewals=RENEWALS if series else None,
        metric=metric,
    )


def detection_of(gate: Gate, compared: Compared, *, level: float = LEVEL, gain: float = 1.0) -> Detection:
    """Return the gate as a test of losses in the unit of its metric."""
    spread, old = compared.spread, abs(compared.old)
    matters = POINTS * spread.width if spread.width and not gate.quotient else SHARE * old
    if gate.word:
        return Detection(spread=spread, matters=matters, level=_TEST_LEVEL, rules=_TEST, gain=gain)
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
    return -step if gate.op in _FLOORS else step


def _series(gate: Gate, compared: Compared, *, level: float, gain: float) -> Detection:  # noqa: ARG001
    """All losses of a series as one."""
    loss = RENEWALS * (STEP * compared.spread.width or STEP_SHARE * abs(compared.old))
    return Detection(spread=compared.spread, matters=loss, movement=DRIFTED / (RENEWALS * STEP), gain=gain)


def _of_test(detection: Detection, loss: float) -> tuple[float, float]:
    """The power, and the number of questions for 80 %."""
    return detection.caught(loss), detection.needed(loss)


def _of_series(detection: Detection, loss: float) -> tuple[float, float]:
    """The same of a series of renewals that FAILs if each has a small loss."""
    effect = detection.effect(loss)
    wanted = effect_of_cusum(TARGET_POWER, steps=RENEWALS)
    return power_of_cusum(effect, steps=RENEWALS), detection.spread.n * (wanted / effect) ** 2
