"""The verdict of a gate: on a measure, on its change, on a whole cell, or without a value to judge.

A number as the limit is compared with the value alone; the sentence reports an interval that straddles the limit. A
comparison with the baseline is paired by sample, and the whole interval decides: if it straddles the limit, the samples
are too few and the verdict is INCONCLUSIVE. If the value decided, two equally good models would fail one run in three
at 50 samples.

The gates of one word are one-sided tests of a whole cell: `no_regression` compares with the baseline; `no_drift` tests
a series of baselines against its anchor, the first one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from pytest_puma.core import (
    LEVEL,
    REGRESSION_LEVEL,
    Change,
    Decline,
    Doubt,
    Drift,
    Gate,
    Measure,
    Policy,
    Power,
    Status,
    Verdict,
)
from pytest_puma.gates.power import PROBABILITY_GAIN, Compared, may_be_unseen, of_gate
from pytest_puma.gates.wording import difference, evidence, measured, moved, parse_failures, relation
from pytest_puma.phrases import counted
from pytest_puma.stats.power import LIMIT
from pytest_puma.stats.significance import mcnemar_worse

#: A gate with less power cannot pass: 100 samples give this power, 50 do not.
MIN_POWER = 0.4


def judge(gate: Gate, measures: Mapping[str, Measure]) -> Verdict:
    """Compare a measure of a cell with a number."""
    measure = measures.get(gate.metric)
    if measure is None:
        return not_run(gate, f"{gate.metric} was not measured: it cannot be computed from the answers of this cell")
    if measure.n == 0 or math.isnan(measure.value):
        return nothing_measured(gate, measure)
    status, fails = _status(gate, measure.value, measure.low, measure.high, gate.doubt or "point")
    return Verdict(gate=gate, status=status, reason=measured(gate, measure, status), fails=fails, measure=measure)


def judge_change(gate: Gate, change: Change, against: str, policy: Policy, *, level: float = LEVEL) -> Verdict:
    """Compare a metric of a cell with the baseline or a naive baseline, which the text `against` names.

    `level` is the confidence level of the interval of the change.
    """
    doubt = gate.doubt or policy.inconclusive
    if math.isnan(change.value):
        # More parsed answers than before are no reason to fail.
        status: Status = "INCONCLUSIVE" if change.more_parse_failures < 0 else "FAIL"
        reason = f"{gate.metric} has nothing to compare with {against} (n={change.n}{parse_failures(change)})"
        fails = status == "FAIL" or doubt == "fail"
        return Verdict(gate=gate, status=status, reason=reason, fails=fails, change=change)
    status, fails = _status(gate, change.value, change.low, change.high, doubt)
    if status == "FAIL" and doubt != "point" and may_be_unseen(gate, change, level):
        status, fails = "INCONCLUSIVE", doubt == "fail"
    effect = relation(gate, change, status, level)
    if change.more_parse_failures > 0 and status != "FAIL":
        status, fails, effect = _with_parse_failures(change, status, doubt, level, effect)
    compared = Compared.of(change)
    return Verdict(
        gate=gate,
        status=status,
        reason=f"{difference(gate, change, against)}, {effect} ({evidence(gate, change)}{parse_failures(change)})",
        fails=fails,
        change=change,
        power=None if compared is None or gate.other != "baseline" else of_gate(gate, compared, level=level),
        level=round((1 - level) / 2, 12) if doubt == "warn" else None,
    )


def judge_decline(gate: Gate, decline: Decline, change: Change | None, against: str, policy: Policy) -> Verdict:
    """FAIL if the test detects a regression; INCONCLUSIVE if its power is too low to detect one."""
    found = "a regression" if decline.is_regression else "no regression found"
    result = f"the same answers as {against}" if decline.same else f"{found} (p = {decline.p:.2g}) against {against}"
    return _judged(gate, decline, change, policy, result, detected=decline.is_regression)


def judge_drift(  # noqa: PLR0917
    gate: Gate, drift: Drift, decline: Decline, change: Change | None, against: str, policy: Policy
) -> Verdict:
    """FAIL if the losses of all renewals and of this run add up to more than chance explains.

    `decline` and `change` compare with the anchor, which the text `against` names.
    """
    detected = drift.total > LIMIT
    found = "a drift" if detected else "no drift found"
    since = f"since {against}, {counted(drift.renewals, 'renewal')} later"
    result = f"{found} (sum {drift.total:.3g}, limit {LIMIT}) {since}"
    return _judged(gate, decline, change, policy, result, detected=detected)


def too_few_in_common(verdict: Verdict, policy: Policy) -> Verdict:
    """Return a PASS of equal answers as INCONCLUSIVE, as they are few; a gate with `!point` still passes."""
    doubt = verdict.gate.doubt or policy.inconclusive
    if verdict.status != "PASS" or doubt == "point":
        return verdict
    reason = f"{verdict.reason}; but these are too few to show that nothing changed"
    return replace(verdict, status="INCONCLUSIVE", reason=reason, fails=doubt == "fail")


def without_baseline(gate: Gate, why: str, policy: Policy) -> Verdict:
    """Verdict of a gate without its baseline; `why` is the reason as a sentence."""
    return Verdict(gate=gate, status="NO BASELINE", reason=why, fails=policy.missing_baseline == "fail")


def becomes_baseline(gate: Gate) -> Verdict:
    """Verdict of a gate on the baseline in a run that replaces the baseline."""
    reason = "not compared with the baseline: this run becomes the baseline"
    return Verdict(gate=gate, status="NEW BASELINE", reason=reason, fails=False)


def nothing_measured(gate: Gate, measure: Measure) -> Verdict:
    """FAIL of a gate on a measure without a value, as of a group without samples: nothing shows that it is kept."""
    reason = f"{gate.metric} has nothing to measure (n={measure.n})"
    return Verdict(gate=gate, status="FAIL", reason=reason, fails=True, measure=measure)


def not_run(gate: Gate, why: str) -> Verdict:
    """Verdict of a gate that was not judged; `why` is the reason as a sentence."""
    return Verdict(gate=gate, status="NOT RUN", reason=why, fails=False)


def unmeasured(gate: Gate, why: str) -> Verdict:
    """Verdict of a gate whose number this run could have measured, and lacks: it fails with `!fail`."""
    return replace(not_run(gate, why), fails=gate.doubt == "fail")


def _status(gate: Gate, value: float, low: float, high: float, doubt: Doubt) -> tuple[Status, bool]:
    """Return the status, and whether it fails the test. Without an interval the value decides."""
    if doubt == "point" or math.isnan(low) or gate.decided_by(low, high):
        return ("PASS", False) if gate.keeps(value) else ("FAIL", True)
    return "INCONCLUSIVE", doubt == "fail"


def _with_parse_failures(
    change: Change, status: Status, doubt: Doubt, level: float, effect: str
) -> tuple[Status, bool, str]:
    """Adjust a verdict on the answers parsed in both sets for a rise of parse failures.

    A model often fails to answer the samples that it is worst at. So a rise that is significant in the exact one-sided
    test, at the level of the gate, FAILs, and any other rise makes the verdict uncertain.
    """
    p = mcnemar_worse(change.new_parse_failures or 0, change.fixed_parse_failures or 0)
    if p <= (1 - level) / 2:
        return "FAIL", True, f"{effect}; but parse failures rose (p = {p:.2g})"
    if status == "INCONCLUSIVE" or doubt == "point":
        return status, status == "INCONCLUSIVE" and doubt == "fail", effect
    return "INCONCLUSIVE", doubt == "fail", f"{effect} on the answers parsed in both; but parse failures rose"


def _judged(
    gate: Gate, decline: Decline, change: Change | None, policy: Policy, result: str, *, detected: bool
) -> Verdict:
    """The verdict of a test; `result` is its sentence without the numbers behind it."""
    power, doubt = power_of(gate, decline, change), gate.doubt or policy.inconclusive
    strong = power is not None and power.caught >= MIN_POWER
    passes = decline.same or doubt == "point" or strong or _is_gain(decline)
    status: Status = "FAIL" if detected else "PASS" if passes else "INCONCLUSIVE"
    doubts = "too little varied to estimate the power" if power is None else f"too few samples: {power}"
    return Verdict(
        gate=gate,
        status=status,
        reason=f"{result}{_evidence(decline, change)}{f'; {doubts}' if status == 'INCONCLUSIVE' else ''}",
        fails=status == "FAIL" or (status == "INCONCLUSIVE" and doubt == "fail"),
        change=change,
        power=power,
        level=None if doubt == "fail" else REGRESSION_LEVEL,
        p=decline.p,
    )


def _is_gain(decline: Decline) -> bool:
    """Whether answers are clearly better: by each test of the gate the other way, and by the sign test."""
    against = max((1 - p for p in decline.tests.values()), default=1.0)
    return max(against, mcnemar_worse(decline.better, decline.worse)) <= REGRESSION_LEVEL


def power_of(gate: Gate, decline: Decline, change: Change | None) -> Power | None:
    """Return the power of a one-word gate; only label probabilities that count add to that of the answers."""
    gain = 1.0 if decline.loss is None else PROBABILITY_GAIN
    return of_gate(gate, Compared.by(decline, change), gain=gain)


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
        return f"{counts}; right and wrong alone count, because {decline.alone}" if decline.alone else counts
    verb = "rose" if decline.loss > 0 else "fell"
    return f"{counts}, and the refitted Brier score {verb} by {abs(decline.loss):.2g}"
