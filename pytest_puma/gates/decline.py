"""The verdict of `no_regression`, the one-sided test of a cell against its baseline."""

from __future__ import annotations

from pytest_puma.core import REGRESSION_LEVEL, Change, Decline, Doubt, Gate, Policy, Power, Status, Verdict
from pytest_puma.gates.detection import Compared
from pytest_puma.gates.moved import moved
from pytest_puma.gates.power import PROBABILITY_GAIN, of_gate

#: A gate with less power cannot pass: 100 samples give this power, 50 do not.
MIN_POWER = 0.4


def judge_decline(gate: Gate, decline: Decline, change: Change | None, against: str, policy: Policy) -> Verdict:
    """FAIL if the test detects a regression; INCONCLUSIVE if its power is too low to detect one."""
    power = power_of(gate, decline, change)
    doubt = gate.doubt or policy.inconclusive
    status, fails = decide(decline, power, doubt, detected=decline.is_regression)
    return Verdict(
        gate=gate,
        status=status,
        reason=f"{_result(status, decline)} {against}{evidence(decline, change)}{low_power(status, power)}",
        fails=fails,
        change=change,
        power=power,
        level=None if doubt == "fail" else REGRESSION_LEVEL,
        p=decline.p,
    )


def power_of(gate: Gate, decline: Decline, change: Change | None) -> Power | None:
    """Return the power of a one-word gate; only label probabilities that count add to that of the answers."""
    gain = 1.0 if decline.loss is None else PROBABILITY_GAIN
    return of_gate(gate, Compared.by(decline, change), gain=gain)


def decide(decline: Decline, power: Power | None, doubt: Doubt, *, detected: bool) -> tuple[Status, bool]:
    """Return the status of a one-word gate, and whether it fails the test."""
    if detected:
        return "FAIL", True
    if decline.same or doubt == "point" or (power is not None and power.caught >= MIN_POWER):
        return "PASS", False
    return "INCONCLUSIVE", doubt == "fail"


def _result(status: Status, decline: Decline) -> str:
    if decline.same:
        return "the same answers as"
    if status == "FAIL":
        return f"a regression (p = {decline.p:.2g}) against"
    return f"no regression found (p = {decline.p:.2g}) against"


def evidence(decline: Decline, change: Change | None) -> str:
    """Return the numbers behind the verdict, and the reason if probabilities do not count."""
    if decline.same:
        return ""
    values = "" if change is None else f"{change.metric} {change.old:.3g} -> {change.new:.3g}, "
    changed = moved(decline)
    if decline.graded:
        return f": {values}{changed}"
    if decline.loss is None:
        # Texts have no probabilities that could count.
        alone = f"; only answers count, because {decline.alone}" if decline.alone else ""
        return f": {values}{changed}{alone}"
    verb = "rose" if decline.loss > 0 else "fell"
    return f": {values}{changed}, and the refitted Brier score {verb} by {abs(decline.loss):.2g}"


def low_power(status: Status, power: Power | None) -> str:
    """Return why the test is inconclusive."""
    if status != "INCONCLUSIVE":
        return ""
    return "; too little varied to estimate the power" if power is None else f"; too few samples: {power}"
