"""Verdicts of gates on a change since a baseline, or on the difference to a naive baseline."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pytest_puma.core import Change, Gate, Policy
from pytest_puma.core.change import Spread
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import judge_change
from tests.factories import change

FALL = change("f1_macro", old=0.7, new=0.64, value=-0.06, low=-0.1, high=-0.025, n=200, worse=14, better=2)
FALL = replace(FALL, spread=Spread(n=200, moved=0.08))
FELL = "f1_macro fell by 0.06 [0.025, 0.1] against baseline main@3f2c1d"
BETTER = replace(FALL, value=0.005, low=0.001, high=0.009, worse=2, better=3)
SAME = replace(FALL, new=0.7, value=0, low=0, high=0, worse=0, better=0)
RISE = change("mae", old=2, new=2.4, value=0.4, low=0.2, high=0.6, n=100, worse=30, better=9, graded=True)
RISE = replace(RISE, spread=Spread(n=100, moved=0.5, size=1.2, unseen=1.2, width=0.0))
ROSE = "mae rose by 0.4 [0.2, 0.6] against baseline main@3f2c1d"
HIGHER = "mae is higher by 0.4 [0.2, 0.6] against naive.mean"
TIMES = replace(RISE, value=1.2, low=1.08, high=1.31, quotient=True)
GREW = "mae is 1.2 [1.08, 1.31] times that of baseline main@3f2c1d"


@pytest.mark.parametrize(
    ("text", "change", "status", "reason"),
    [
        ("f1_macro >= baseline - 0.02", FALL, "FAIL", f"{FELL}, more than the 0.02 allowed"),
        ("f1_macro >= baseline", FALL, "FAIL", f"{FELL}, which misses >= baseline"),
        (
            "f1_macro >= baseline - 0.03",
            FALL,
            "INCONCLUSIVE",
            f"{FELL}, which may miss >= baseline - 0.03: n=200 detects a fall of 0.112 or more in 80 % of runs",
        ),
        ("f1_macro >= baseline - 0.1", FALL, "PASS", f"{FELL}, which keeps >= baseline - 0.1"),
        (
            "f1_macro >= baseline",
            SAME,
            "PASS",
            "f1_macro stayed the same [0, 0] against baseline main@3f2c1d, which keeps >= baseline",
        ),
        (
            "f1_macro >= baseline + 0.01",
            BETTER,
            "FAIL",
            "f1_macro rose by 0.005 [0.001, 0.009] against baseline main@3f2c1d, which misses >= baseline + 0.01",
        ),
        ("mae <= baseline + 0.1", RISE, "FAIL", f"{ROSE}, more than the 0.1 allowed"),
        (
            "mae <= baseline + 0.3",
            RISE,
            "INCONCLUSIVE",
            f"{ROSE}, which may miss <= baseline + 0.3: n=100 detects a rise of 0.548 or more in 80 % of runs",
        ),
        ("mae <= baseline * 1.05", TIMES, "FAIL", f"{GREW}, which misses <= baseline * 1.05"),
        (
            "mae <= baseline * 1.1",
            TIMES,
            "INCONCLUSIVE",
            f"{GREW}, which may miss <= baseline * 1.1: n=100 detects 1.22 times or more in 80 % of runs",
        ),
    ],
)
def test_a_change_is_judged_by_its_whole_interval(text: str, change: Change, status: str, reason: str) -> None:
    gate = parse_gate(text)
    verdict = judge_change(gate, change, "baseline main@3f2c1d", Policy())

    assert verdict.status == status
    assert verdict.reason.rpartition(" (")[0] == reason
    assert (verdict.gate, verdict.change, verdict.fails) == (gate, change, status == "FAIL")


@pytest.mark.parametrize(("value", "status"), [(-0.06, "FAIL"), (0.0, "PASS")])
def test_without_an_interval_the_value_of_a_change_decides(value: float, status: str) -> None:
    bare = change("wordiness", value=value, low=math.nan, high=math.nan, thin=True)
    verdict = judge_change(parse_gate("wordiness >= baseline"), bare, "the baseline", Policy())
    assert (verdict.status, verdict.power) == (status, None)
    verb = "fell by 0.06" if value else "stayed the same"
    assert verdict.reason.startswith(f"wordiness {verb} against the baseline, which ")
    assert verdict.reason.endswith("; all resamples have the same change: without an interval, the value decides)")


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (FALL, "(14 of 200 answers went from right to wrong, 2 the other way)"),
        (RISE, "(30 of 100 answers got a larger error, 9 a smaller one)"),
    ],
)
def test_the_answers_behind_a_change_are_counted(change: Change, counts: str) -> None:
    gate = Gate(metric=change.metric, op=">=", limit=0, other="baseline")

    assert judge_change(gate, change, "the baseline", Policy()).reason.endswith(counts)


def test_the_end_of_an_interval_at_zero_has_no_sign() -> None:
    touching = replace(FALL, high=0.0)
    reason = judge_change(parse_gate("f1_macro >= baseline"), touching, "the baseline", Policy()).reason
    assert reason.startswith("f1_macro fell by 0.06 [0, 0.1] against the baseline, which may miss")


WRONG = "answers are wrong where it is right"


@pytest.mark.parametrize(
    ("text", "change", "status", "moved", "turned"),
    [
        (
            "f1_macro >= naive.tfidf",
            FALL,
            "FAIL",
            "f1_macro is lower by 0.06 [0.025, 0.1] against naive.tfidf, which misses >= naive.tfidf",
            f"14 of 200 {WRONG}, 2 the other way",
        ),
        (
            "f1_macro > naive.tfidf",
            SAME,
            "FAIL",
            "f1_macro is the same [0, 0] against naive.tfidf, which misses > naive.tfidf",
            f"0 of 200 {WRONG}, 0 the other way",
        ),
        (
            "mae <= naive.mean + 0.3",
            RISE,
            "INCONCLUSIVE",
            (
                f"{HIGHER}, which may miss <= naive.mean + 0.3: "
                "n=100 detects a value 0.548 above naive.mean in 80 % of runs"
            ),
            "30 of 100 answers have a larger error, 9 a smaller one",
        ),
        (
            "mae <= naive.mean * 2",
            TIMES,
            "PASS",
            "mae is 1.2 [1.08, 1.31] times that of naive.mean, which keeps <= naive.mean * 2",
            "30 of 100 answers have a larger error, 9 a smaller one",
        ),
    ],
)
def test_a_naive_baseline_is_compared_with_and_is_no_past(
    text: str, change: Change, status: str, moved: str, turned: str
) -> None:
    gate = parse_gate(text)
    verdict = judge_change(gate, change, str(gate.other), Policy())

    assert (verdict.status, verdict.reason) == (status, f"{moved} ({turned})")


@pytest.mark.parametrize(
    ("policy", "doubt", "status", "fails"),
    [
        ("warn", "", "INCONCLUSIVE", False),
        ("fail", "", "INCONCLUSIVE", True),
        ("point", "", "FAIL", True),
        ("warn", " !fail", "INCONCLUSIVE", True),
        ("fail", " !warn", "INCONCLUSIVE", False),
        ("fail", " !point", "FAIL", True),
    ],
)
def test_the_policy_decides_about_doubt_and_a_gate_may_override_it(
    policy: str,
    doubt: str,
    status: str,
    fails: bool,  # noqa: FBT001
) -> None:
    chosen = Policy(inconclusive=policy)  # type: ignore[arg-type]
    verdict = judge_change(parse_gate(f"f1_macro >= baseline - 0.03{doubt}"), FALL, "the baseline", chosen)

    assert (verdict.status, verdict.fails) == (status, fails)


def test_one_answer_of_fifty_is_the_0_02_that_it_looks_like() -> None:
    change = replace(FALL, value=0.62 - 0.64, low=0.62 - 0.64, high=0.62 - 0.64)
    assert change.value < -0.02

    assert judge_change(parse_gate("f1_macro >= baseline - 0.02"), change, "the baseline", Policy()).status == "PASS"


def test_a_change_of_nothing_is_never_green() -> None:
    change = replace(FALL, value=math.nan, low=math.nan, high=math.nan, n=3)
    verdict = judge_change(parse_gate("f1_macro >= baseline"), change, "the baseline", Policy(inconclusive="warn"))

    assert verdict.status == "FAIL"
    assert verdict.fails


@pytest.mark.parametrize(("worse", "approximate"), [(3, True), (4, False)])
def test_the_interval_of_few_changed_answers_is_approximate(worse: int, approximate: bool) -> None:  # noqa: FBT001
    fall = change(old=0.9, new=0.8, value=-0.1, low=-0.2, high=0.0, worse=worse, better=1, changed=worse + 1)

    verdict = judge_change(parse_gate("accuracy >= baseline - 0.3"), fall, "the baseline", Policy())

    assert verdict.reason.endswith("1 the other way; the interval is approximate)") is approximate


def test_samples_that_only_the_metric_counts_differently_are_counted() -> None:
    change = replace(FALL, worse=0, better=0, changed=7)
    reason = judge_change(parse_gate("f1_macro >= baseline"), change, "the baseline", Policy()).reason

    assert reason.endswith("0 the other way; f1_macro counts 7 samples differently)")


LOWER = replace(RISE, value=-0.4, low=-0.6, high=-0.2, worse=9, better=30)


@pytest.mark.parametrize(
    ("new_parse_failures", "fixed_parse_failures", "doubt", "status", "fails"),
    [
        (0, 0, "", "PASS", False),
        (1, 0, "", "INCONCLUSIVE", False),
        (5, 0, "", "INCONCLUSIVE", False),  # p = 0.031
        (6, 0, "", "FAIL", True),  # p = 0.016
        (7, 1, "", "INCONCLUSIVE", False),
        (8, 1, "", "FAIL", True),
        (3, 3, "", "PASS", False),
        (0, 20, "", "PASS", False),
        (1, 0, " !fail", "INCONCLUSIVE", True),
        (1, 0, " !point", "PASS", False),
        (6, 0, " !point", "FAIL", True),
    ],
)
def test_more_unparsed_answers_than_before_never_pass(
    new_parse_failures: int,
    fixed_parse_failures: int,
    doubt: str,
    status: str,
    fails: bool,  # noqa: FBT001
) -> None:
    change = replace(LOWER, new_parse_failures=new_parse_failures, fixed_parse_failures=fixed_parse_failures)
    verdict = judge_change(parse_gate(f"mae <= baseline{doubt}"), change, "the baseline", Policy())

    assert (verdict.status, verdict.fails) == (status, fails)
    assert (f"{new_parse_failures} new" in verdict.reason) is bool(new_parse_failures)
    assert (f"{fixed_parse_failures} fixed" in verdict.reason) is bool(fixed_parse_failures)


def test_answers_parsed_only_now_are_not_held_against_a_baseline_without_parsed_answers() -> None:
    change = replace(LOWER, value=math.nan, low=math.nan, high=math.nan, n=0, fixed_parse_failures=100)

    assert judge_change(parse_gate("mae <= baseline"), change, "the baseline", Policy()).status == "INCONCLUSIVE"
