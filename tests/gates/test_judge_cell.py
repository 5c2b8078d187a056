"""`no_regression` as a verdict: a test of few samples does not pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_puma.core import Decline, Gate, Policy
from pytest_puma.core.change import Spread
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import judge_decline

GATE = parse_gate("no_regression")
FOUND = Decline(n=100, worse=12, better=2, p=0.004, loss=0.03, spread=Spread(n=100, moved=0.14))
WEAK = Decline(n=50, worse=3, better=2, p=0.4, loss=0.001, spread=Spread(n=50, moved=0.1))
STRONG = Decline(
    n=400,
    worse=12,
    better=12,
    p=0.5,
    alone="this run did not score the labels",
    spread=Spread(n=400, moved=0.06),
)


@pytest.mark.parametrize(
    ("decline", "gate", "status", "fails"),
    [
        (FOUND, GATE, "FAIL", True),
        (WEAK, GATE, "INCONCLUSIVE", False),
        (WEAK, parse_gate("no_regression !fail"), "INCONCLUSIVE", True),
        (WEAK, parse_gate("no_regression !point"), "PASS", False),
        (replace(WEAK, same=True), GATE, "PASS", False),
        (replace(WEAK, better=12, p=0.99, tests={"mcnemar_mid_p": 0.99}), GATE, "PASS", False),
        (STRONG, GATE, "PASS", False),
    ],
)
def test_a_gate_that_sees_little_does_not_pass(decline: Decline, gate: Gate, status: str, *, fails: bool) -> None:
    verdict = judge_decline(gate, decline, None, "the baseline", Policy())
    assert (verdict.status, verdict.fails, verdict.p) == (status, fails, decline.p)
    assert verdict.power is not None
    if status == "INCONCLUSIVE":
        assert verdict.reason == (
            "no regression found (p = 0.4) against the baseline: 3 of 50 answers went from right to wrong, 2 the other "
            f"way, and the refitted Brier score rose by 0.001; too few samples: {verdict.power}"
        )
        assert str(verdict.power).startswith("a loss of 5 points is caught in 2")


def test_the_reason_why_answers_count_alone_is_left_out_if_there_is_none() -> None:
    """Texts have no probabilities."""
    reason = judge_decline(GATE, replace(STRONG, alone=""), None, "the baseline", Policy()).reason
    assert reason == (
        "no regression found (p = 0.5) against the baseline: 12 of 400 answers went from right to wrong, "
        "12 the other way"
    )
