"""What becomes of `no_regression`: the one-sided test of a cell against its baseline, in a sentence."""

from __future__ import annotations

from pytest_puma.core import REGRESSION_LEVEL, Change, Decline, Gate, Policy, Power, Status, Verdict
from pytest_puma.gates.power import of_decline

#: A gate that sees the loss more seldom cannot be said to have passed: 100 samples give as much, 50 do not.
ENOUGH = 0.4


def judge_decline(gate: Gate, decline: Decline, change: Change | None, against: str, policy: Policy) -> Verdict:
    """FAIL where the test finds a regression; INCONCLUSIVE where it had too little power to find one."""
    power = of_decline(decline, change.old if change is not None else 0.0)
    doubt = gate.doubt or policy.inconclusive
    if decline.found:
        status: Status = "FAIL"
    elif decline.same or doubt == "point" or (power is not None and power.caught >= ENOUGH):
        status = "PASS"
    else:
        status = "INCONCLUSIVE"
    return Verdict(
        gate=gate,
        status=status,
        reason=f"{_found(status, decline)} {against}{evidence(decline, change)}{_weak(status, power)}",
        fails=status == "FAIL" or (status == "INCONCLUSIVE" and doubt == "fail"),
        change=change,
        power=power,
        level=None if doubt == "fail" else REGRESSION_LEVEL,
        p=decline.p,
    )


def _found(status: Status, decline: Decline) -> str:
    if decline.same:
        return "the same answers as"
    if status == "FAIL":
        return f"a regression (p = {decline.p:.2g}) against"
    return f"no regression found (p = {decline.p:.2g}) against"


def evidence(decline: Decline, change: Change | None) -> str:
    """The numbers behind it, and why probabilities do not count where they do not."""
    if decline.same:
        return ""
    moved = "" if change is None else f"{change.metric} {change.old:.3g} -> {change.new:.3g}, "
    if decline.numbers:
        return f": {moved}{decline.worse} of {decline.n} answers are farther off, {decline.better} nearer"
    turned = f"{decline.worse} of {decline.n} answers went from right to wrong, {decline.better} the other way"
    if decline.loss is None:
        return f": {moved}{turned}; answers alone count, as {decline.alone}"
    moves = "rose" if decline.loss > 0 else "fell"
    return f": {moved}{turned}, and the refitted Brier score {moves} by {abs(decline.loss):.2g}"


def _weak(status: Status, power: Power | None) -> str:
    """Why the test could not tell."""
    if status != "INCONCLUSIVE":
        return ""
    return "; nothing varied enough to say what it can see" if power is None else f"; too few samples: {power}"
