from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pytest_puma.core import Gate, Status, Verdict
from pytest_puma.report.gates import in_short
from tests.factories import change, measure, unmeasured, verdict

UNDER = verdict("accuracy >= 0.9", "FAIL", "it is under 0.9", measure=measure())


def _gated(op: str, limit: float, value: float = 0.66) -> Verdict:
    return verdict(Gate(metric="accuracy", op=op, limit=limit), "FAIL", "it is under 0.9", measure=measure(value=value))


@pytest.mark.parametrize(
    ("missed", "text"),
    [
        (_gated(">=", 0.9), "accuracy 0.66 < 0.9"),
        (_gated("<=", 0.5), "accuracy 0.66 > 0.5"),
        (_gated(">", 0.66), "accuracy 0.66 <= 0.66"),
        (_gated("<", 0.66), "accuracy 0.66 >= 0.66"),
        (_gated(">=", 0.45, 0.44996), "accuracy 0.44996 < 0.45"),
        (_gated("<=", 5, 12.5), "accuracy 12.50 > 5"),
        (
            replace(_gated(">=", 1), measure=unmeasured("ece"), reason="accuracy has nothing to measure"),
            "accuracy has nothing to measure",
        ),
    ],
)
def test_a_missed_number_is_the_value_beside_the_limit(missed: Verdict, text: str) -> None:
    assert in_short(missed) == text


def test_a_change_shows_both_values_and_the_rule() -> None:
    missed = verdict("accuracy >= baseline - 0.02", "FAIL", change=change())
    assert in_short(missed) == "accuracy 0.46, baseline 0.66: misses >= baseline - 0.02"
    nothing = replace(missed, change=change(value=math.nan))
    assert in_short(replace(nothing, reason="accuracy has nothing to compare")) == "accuracy has nothing to compare"


@pytest.mark.parametrize(
    "missed",
    [
        _gated(">=", 0.5),
        _gated("<=", 0.7),
        verdict("accuracy >= baseline - 0.3", "FAIL", change=change()),
        verdict("accuracy >= 0.7 !fail", "FAIL", measure=measure(value=0.66, low=0.5, high=0.8)),
    ],
    ids=lambda missed: str(missed.gate),
)
def test_numbers_that_do_not_miss_the_limit_give_no_reason(missed: Verdict) -> None:
    reason = "accuracy keeps it; but 17% of the judge's verdicts are unreadable (at most 5% may be)"
    assert in_short(replace(missed, reason=reason)) == reason


def test_a_gate_of_one_word_shows_its_p_value() -> None:
    missed = verdict("no_regression", "FAIL", "a regression", p=0.0123)
    assert in_short(missed) == "no_regression: p = 0.0123"
    assert in_short(replace(missed, p=None)) == "no_regression: a regression"


def test_a_reason_that_does_not_begin_with_the_measure_stands_behind_the_gate() -> None:
    assert in_short(verdict("accuracy >= baseline", "NO BASELINE", "none yet")) == "accuracy >= baseline: none yet"


@pytest.mark.parametrize("status", ["INCONCLUSIVE", "NO BASELINE"])
def test_doubt_is_the_sentence(status: Status) -> None:
    assert in_short(replace(UNDER, status=status, reason="accuracy may miss it")) == "accuracy may miss it"
