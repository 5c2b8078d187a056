"""Verdicts of gates without a value to judge."""

from __future__ import annotations

from pytest_puma.core import Gate, Measure, Policy, Verdict


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
