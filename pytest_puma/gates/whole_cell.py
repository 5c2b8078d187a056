"""The verdicts of one-word gates, the one-sided tests of a whole cell.

`no_regression` compares with the baseline; `no_drift` tests a series of baselines against its anchor, the first one.
"""

from __future__ import annotations

from collections.abc import Callable

from pytest_puma.core import REGRESSION_LEVEL, Change, Decline, Drift, Gate, Policy, Power, Status, Verdict
from pytest_puma.gates.power import PROBABILITY_GAIN, Compared, of_gate
from pytest_puma.gates.wording import moved
from pytest_puma.stats.cusum import LIMIT

#: A gate with less power cannot pass: 100 samples give this power, 50 do not.
MIN_POWER = 0.4


def judge_decline(gate: Gate, decline: Decline, change: Change | None, against: str, policy: Policy) -> Verdict:
    """FAIL if the test detects a regression; INCONCLUSIVE if its power is too low to detect one."""

    def result(status: Status) -> str:
        if decline.same:
            return f"the same answers as {against}"
        found = "a regression" if status == "FAIL" else "no regression found"
        return f"{found} (p = {decline.p:.2g}) against {against}"

    return _judged(gate, decline, change, policy, result, detected=decline.is_regression)


def judge_drift(  # noqa: PLR0917
    gate: Gate, drift: Drift, decline: Decline, change: Change | None, against: str, policy: Policy
) -> Verdict:
    """FAIL if the losses of all renewals and of this run add up to more than chance explains.

    `decline` and `change` compare with the anchor, which the text `against` names.
    """

    def result(status: Status) -> str:
        found = "a drift" if status == "FAIL" else "no drift found"
        renewed = f"{drift.renewals} renewal{'' if drift.renewals == 1 else 's'} later"
        return f"{found} (sum {drift.total:.3g}, limit {LIMIT}) since {against}, {renewed}"

    return _judged(gate, decline, change, policy, result, detected=drift.total > LIMIT)


def _judged(
    gate: Gate,
    decline: Decline,
    change: Change | None,
    policy: Policy,
    result: Callable[[Status], str],
    *,
    detected: bool,
) -> Verdict:
    """The verdict of a test; `result` is its sentence without the numbers behind it."""
    power = power_of(gate, decline, change)
    doubt, status = gate.doubt or policy.inconclusive, _status(gate, decline, power, policy, detected=detected)
    return Verdict(
        gate=gate,
        status=status,
        reason=f"{result(status)}{_evidence(decline, change)}{_low_power(status, power)}",
        fails=status == "FAIL" or (status == "INCONCLUSIVE" and doubt == "fail"),
        change=change,
        power=power,
        level=None if doubt == "fail" else REGRESSION_LEVEL,
        p=decline.p,
    )


def power_of(gate: Gate, decline: Decline, change: Change | None) -> Power | None:
    """Return the power of a one-word gate; only label probabilities that count add to that of the answers."""
    gain = 1.0 if decline.loss is None else PROBABILITY_GAIN
    return of_gate(gate, Compared.by(decline, change), gain=gain)


def _status(gate: Gate, decline: Decline, power: Power | None, policy: Policy, *, detected: bool) -> Status:
    if detected:
        return "FAIL"
    enough = power is not None and power.caught >= MIN_POWER
    return "PASS" if decline.same or enough or (gate.doubt or policy.inconclusive) == "point" else "INCONCLUSIVE"


def _evidence(decline: Decline, change: Change | None) -> str:
    """The numbers behind the verdict, and the reason if probabilities do not count."""
    if decline.same:
        return ""
    values = "" if change is None else f"{change.metric} {change.old:.3g} -> {change.new:.3g}, "
    counts = f": {values}{moved(decline)}"
    if decline.graded:
        return counts
    if decline.loss is None:
        # Texts have no probabilities that could count.
        return f"{counts}; only answers count, because {decline.alone}" if decline.alone else counts
    verb = "rose" if decline.loss > 0 else "fell"
    return f"{counts}, and the refitted Brier score {verb} by {abs(decline.loss):.2g}"


def _low_power(status: Status, power: Power | None) -> str:
    """Why the test is inconclusive."""
    if status != "INCONCLUSIVE":
        return ""
    return "; too little varied to estimate the power" if power is None else f"; too few samples: {power}"
