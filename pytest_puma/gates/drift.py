"""The verdict of `no_drift`, the test of a series of baselines against its anchor, the first one."""

from __future__ import annotations

from pytest_puma.core import REGRESSION_LEVEL, Change, Decline, Drift, Gate, Policy, Verdict
from pytest_puma.gates.decline import decide, evidence, low_power, power_of
from pytest_puma.stats.cusum import LIMIT


def judge_drift(  # noqa: PLR0917
    gate: Gate, drift: Drift, decline: Decline, change: Change | None, against: str, policy: Policy
) -> Verdict:
    """FAIL if the losses of all renewals and of this run add up to more than chance explains.

    `decline` and `change` compare with the anchor, which the text `against` names.
    """
    power = power_of(gate, decline, change)
    doubt = gate.doubt or policy.inconclusive
    status, fails = decide(decline, power, doubt, detected=drift.total > LIMIT)
    result = "a drift" if status == "FAIL" else "no drift found"
    renewed = f"{drift.renewals} renewal{'' if drift.renewals == 1 else 's'} later"
    return Verdict(
        gate=gate,
        status=status,
        reason=f"{result} (sum {drift.total:.3g}, limit {LIMIT}) since {against}, {renewed}"
        f"{evidence(decline, change)}{low_power(status, power)}",
        fails=fails,
        change=change,
        power=power,
        level=None if doubt == "fail" else REGRESSION_LEVEL,
        p=decline.p,
    )
