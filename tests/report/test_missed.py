from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pytest_puma.core import Gate, Status, Verdict
from pytest_puma.report.missed import in_short
from tests.report.made import ACCURACY, CHANGE, ECE, MISSED

UNDER = replace(MISSED, measure=ACCURACY)


def _gated(op: str, limit: float, value: float = ACCURACY.value) -> Verdict:
    return replace(UNDER, gate=Gate(metric="accuracy", op=op, limit=limit), measure=replace(ACCURACY, value=value))


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (_gated(">=", 0.9), "accuracy 0.66 < 0.9"),
        (_gated("<=", 0.5), "accuracy 0.66 > 0.5"),
        (_gated(">", 0.66), "accuracy 0.66 <= 0.66"),
        (_gated("<", 0.66), "accuracy 0.66 >= 0.66"),
        (_gated(">=", 0.45, 0.44996), "accuracy 0.44996 < 0.45"),
        (_gated("<=", 5, 12.5), "accuracy 12.50 > 5"),
        (
            replace(_gated(">=", 1), measure=ECE, reason="accuracy has nothing to measure"),
            "accuracy has nothing to measure",
        ),
    ],
)
def test_a_missed_number_is_the_value_beside_the_limit(verdict: Verdict, text: str) -> None:
    assert in_short(verdict) == text


def test_a_change_shows_both_values_and_the_rule() -> None:
    gate = Gate(metric="accuracy", op=">=", limit=-0.02, other="baseline")
    verdict = replace(MISSED, gate=gate, change=CHANGE)
    assert in_short(verdict) == "accuracy 0.46, baseline 0.66: misses >= baseline - 0.02"
    nothing = replace(verdict, change=replace(CHANGE, value=math.nan))
    assert in_short(replace(nothing, reason="accuracy has nothing to compare")) == "accuracy has nothing to compare"


def test_a_gate_of_one_word_shows_its_p_value() -> None:
    verdict = replace(MISSED, gate=Gate(metric="no_regression", op="", limit=0), p=0.0123, reason="a regression")
    assert in_short(verdict) == "no_regression: p = 0.0123"
    assert in_short(replace(verdict, p=None)) == "no_regression: a regression"


def test_a_reason_that_does_not_begin_with_the_measure_stands_behind_the_gate() -> None:
    gate = Gate(metric="accuracy", op=">=", limit=0, other="baseline")
    assert in_short(replace(MISSED, gate=gate, status="NO BASELINE", reason="none yet")) == (
        "accuracy >= baseline: none yet"
    )


@pytest.mark.parametrize("status", ["INCONCLUSIVE", "NO BASELINE"])
def test_doubt_is_the_sentence(status: Status) -> None:
    assert in_short(replace(UNDER, status=status, reason="accuracy may miss it")) == "accuracy may miss it"
