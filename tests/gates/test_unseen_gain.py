"""Gates whose limit is at an end of the interval, or demands a gain where no answer changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_puma.core import Policy
from pytest_puma.core.change import Spread
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import judge_change
from tests.factories import change


@pytest.mark.parametrize(
    ("gate", "n", "status"),
    [
        ("accuracy >= baseline + 0.1", 6, "INCONCLUSIVE"),
        ("accuracy >= baseline + 0.1", 60, "FAIL"),
        ("accuracy >= baseline + 0.05", 60, "INCONCLUSIVE"),
        ("accuracy >= baseline + 0.1 !point", 6, "FAIL"),
        ("accuracy >= baseline - 0.1", 6, "PASS"),
        ("accuracy >= plain + 0.1", 6, "INCONCLUSIVE"),
        ("mae <= baseline * 0.8", 6, "INCONCLUSIVE"),
        ("mae <= baseline - 0.4", 60, "FAIL"),
    ],
)
def test_a_gain_that_few_samples_did_not_show_is_not_ruled_out(gate: str, n: int, status: str) -> None:
    parsed = parse_gate(gate)
    same, width = (1.0, 0.0) if parsed.quotient else (0.0, float("accuracy" in gate))
    still = change("x", old=1.0, new=1.0, value=same, low=same, high=same, n=n, worse=0, better=0)
    spread = Spread(n=n, moved=0.0, width=width)
    verdict = judge_change(parsed, replace(still, spread=spread, quotient=parsed.quotient), "it", Policy())
    assert verdict.status == status
    assert ("does not rule the gain out" in verdict.reason) is (status == "INCONCLUSIVE")


@pytest.mark.parametrize(
    ("gate", "low", "high", "status"),
    [
        ("accuracy > baseline", -0.15, 0.0, "INCONCLUSIVE"),
        ("accuracy > baseline", -0.15, -0.01, "FAIL"),
        ("accuracy > baseline", 0.0, 0.15, "INCONCLUSIVE"),
        ("accuracy > baseline", 0.01, 0.15, "PASS"),
        ("accuracy >= baseline", -0.15, 0.0, "INCONCLUSIVE"),
        ("accuracy >= baseline", 0.0, 0.15, "PASS"),
        ("parse_failure_rate < baseline", 0.0, 0.15, "INCONCLUSIVE"),
        ("parse_failure_rate < baseline", 0.01, 0.15, "FAIL"),
        # The same answers are no better, however few they are.
        ("accuracy > naive.majority", 0.0, 0.0, "FAIL"),
    ],
)
def test_an_interval_that_ends_at_the_limit_contains_it(gate: str, low: float, high: float, status: str) -> None:
    between = (low + high) / 2
    moved = change("x", old=0.5, new=0.5 + between, value=between, low=low, high=high, n=60, worse=4, better=0)
    assert judge_change(parse_gate(gate), moved, "it", Policy()).status == status
