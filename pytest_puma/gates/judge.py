"""The verdict of a gate on a measure, on its change since the baseline, or without a value to judge.

A number as the limit is compared with the value alone; the sentence reports an interval that straddles the limit. A
comparison with the baseline is paired by sample, and the whole interval decides: if it straddles the limit, the samples
are too few and the verdict is INCONCLUSIVE. If the value decided, two equally good models would fail one run in three
at 50 samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from pytest_puma.core import LEVEL, Change, Doubt, Gate, Measure, Policy, Status, Verdict
from pytest_puma.gates.power import Compared, of_gate
from pytest_puma.gates.wording import difference, evidence, measured, parse_failures, relation
from pytest_puma.stats.significance import mcnemar_worse


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
