"""What becomes of `no_drift`: the series of a cell's baselines against the one that it started from, in a sentence."""

from __future__ import annotations

from pytest_puma.core import REGRESSION_LEVEL, Change, Decline, Drift, Gate, Policy, Status, Verdict
from pytest_puma.gates.decline import ENOUGH, evidence
from pytest_puma.gates.power import of_drift
from pytest_puma.stats.cusum import LIMIT


def judge_drift(  # noqa: PLR0917
    gate: Gate, drift: Drift, decline: Decline, change: Change | None, against: str, policy: Policy
) -> Verdict:
    """FAIL where the losses of all renewals and of this run add up to more than chance gives.

    `decline` and `change` are those against the anchor, which the words `against` name.
    """
    power = of_drift(decline, change.old if change is not None else 0.0)
    doubt = gate.doubt or policy.inconclusive
    if drift.total > LIMIT:
        status: Status = "FAIL"
    elif decline.same or doubt == "point" or (power is not None and power.caught >= ENOUGH):
        status = "PASS"
    else:
        status = "INCONCLUSIVE"
    found = "a drift" if status == "FAIL" else "no drift found"
    renewed = f"{drift.renewals} renewal{'' if drift.renewals == 1 else 's'} later"
    weak = ""
    if status == "INCONCLUSIVE":
        weak = "; nothing varied enough to say what it can see" if power is None else f"; too few samples: {power}"
    return Verdict(
        gate=gate,
        status=status,
        reason=f"{found} (sum {drift.total:.3g}, limit {LIMIT}) since {against}, {renewed}"
        f"{evidence(decline, change)}{weak}",
        fails=status == "FAIL" or (status == "INCONCLUSIVE" and doubt == "fail"),
        change=change,
        power=power,
        level=None if doubt == "fail" else REGRESSION_LEVEL,
        p=decline.p,
    )
