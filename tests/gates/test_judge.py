from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Change, Gate, Measure, Policy
from pytest_puma.gates import judge, judge_change, parse_gate

STRADDLES = "the interval straddles the limit"


def measured(value: float, low: float = math.nan, high: float = math.nan, n: int = 200) -> dict[str, Measure]:
    return {"f1_macro": Measure(metric="f1_macro", value=value, low=low, high=high, n=n)}


@pytest.mark.parametrize(
    ("op", "below", "equal", "above"),
    [
        (">=", "FAIL", "PASS", "PASS"),
        (">", "FAIL", "FAIL", "PASS"),
        ("<=", "PASS", "PASS", "FAIL"),
        ("<", "PASS", "FAIL", "FAIL"),
    ],
)
def test_each_operator_judges_below_at_and_above_its_limit(op: str, below: str, equal: str, above: str) -> None:
    gate = Gate(metric="f1_macro", op=op, limit=0.5)
    values = math.nextafter(0.5, 0), 0.5, math.nextafter(0.5, 1)

    assert [judge(gate, measured(value)).status for value in values] == [below, equal, above]


@pytest.mark.parametrize(
    ("text", "measure", "reason"),
    [
        ("f1_macro >= 0.55", measured(0.41, 0.36, 0.46), "f1_macro 0.41 [0.36, 0.46] n=200 is under 0.55"),
        ("f1_macro <= 0.3", measured(0.41, 0.36, 0.46), "f1_macro 0.41 [0.36, 0.46] n=200 is over 0.3"),
        ("f1_macro > 0.41", measured(0.41, 0.41, 0.41), "f1_macro 0.41 [0.41, 0.41] n=200 is not over 0.41"),
        ("f1_macro < 0.41", measured(0.41, 0.41, 0.41), "f1_macro 0.41 [0.41, 0.41] n=200 is not under 0.41"),
        ("f1_macro >= 0.55", measured(0.61, 0.55, 0.67), "f1_macro 0.61 [0.55, 0.67] n=200 keeps >= 0.55"),
        (
            "f1_macro > 0.55",
            measured(0.61, 0.55, 0.67),
            f"f1_macro 0.61 [0.55, 0.67] n=200 keeps > 0.55; {STRADDLES}; about 410 samples would be needed to decide",
        ),
        (
            "f1_macro >= 0.45",
            measured(0.41, 0.36, 0.46),
            f"f1_macro 0.41 [0.36, 0.46] n=200 is under 0.45; {STRADDLES}; about 640 samples would be needed to decide",
        ),
        ("f1_macro <= 0.5", measured(0.41), "f1_macro 0.41 n=200 keeps <= 0.5"),
        ("f1_macro <= 5", measured(1234.5678, 99.96, 4123.4), "f1_macro 1235 [100, 4123] n=200 is over 5"),
        ("f1_macro < 0.2", measured(0.00012345, 0, 0.1), "f1_macro 0.000123 [0, 0.1] n=200 keeps < 0.2"),
        ("f1_macro >= 0.12345678", measured(0), "f1_macro 0 n=200 is under 0.12345678"),
        ("f1_macro >= -2.0", measured(-1), "f1_macro -1 n=200 keeps >= -2"),
    ],
)
def test_the_reason_is_a_sentence_with_the_numbers(text: str, measure: dict[str, Measure], reason: str) -> None:
    verdict = judge(parse_gate(text), measure)

    assert verdict.reason == reason
    assert verdict.measure == measure["f1_macro"]
    assert verdict.gate == parse_gate(text)


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (0.5499, 0.55, "f1_macro 0.5499 n=200 is under 0.55"),
        (0.5496, 0.5497, "f1_macro 0.5496 n=200 is under 0.5497"),
        (1234.5, 1235, "f1_macro 1234 n=200 is under 1235"),
        (1234.9, 1235, "f1_macro 1234.9 n=200 is under 1235"),
        (0.5555, 0.5555, "f1_macro 0.5555 n=200 keeps >= 0.5555"),
    ],
)
def test_rounding_never_moves_a_value_across_its_limit(value: float, limit: float, shown: str) -> None:
    assert judge(Gate(metric="f1_macro", op=">=", limit=limit), measured(value)).reason == shown


finite = st.floats(allow_nan=False)


@given(finite, finite | st.sampled_from([0.5, 100.0]), st.sampled_from([">=", "<=", ">", "<"]))
def test_the_shown_value_would_get_the_same_verdict(value: float, limit: float, op: str) -> None:
    gate = Gate(metric="f1_macro", op=op, limit=limit)
    verdict = judge(gate, measured(value))
    shown = float(verdict.reason.split()[1])

    assert judge(gate, measured(shown)).status == verdict.status


@given(st.floats(min_value=1e-4, max_value=1e8))
def test_ordinary_values_are_shown_with_three_digits_and_no_exponent(value: float) -> None:
    shown = judge(Gate(metric="f1_macro", op=">=", limit=-1), measured(value)).reason.split()[1]

    assert "e" not in shown
    assert float(shown) == pytest.approx(value, rel=0.00501)


@pytest.mark.parametrize("measure", [measured(math.nan, n=0), measured(math.nan, n=20), measured(0.9, n=0)])
@pytest.mark.parametrize("op", [">=", "<="])
def test_nothing_measured_is_never_green(measure: dict[str, Measure], op: str) -> None:
    verdict = judge(Gate(metric="f1_macro", op=op, limit=0.5), measure)

    assert verdict.status == "FAIL"
    assert verdict.reason == f"f1_macro has nothing to measure (n={measure['f1_macro'].n})"


def test_a_gate_on_a_metric_the_cell_does_not_have_is_not_run() -> None:
    verdict = judge(parse_gate("ece <= 0.1"), measured(0.5))

    assert verdict.status == "NOT RUN"
    assert verdict.reason == "ece was not measured: it cannot be computed from the answers of this cell"
    assert verdict.measure is None


@pytest.mark.parametrize(
    ("doubt", "status", "fails"),
    [("point", "PASS", False), ("warn", "INCONCLUSIVE", False), ("fail", "INCONCLUSIVE", True)],
)
def test_a_gate_may_ask_for_the_whole_interval(doubt: str, status: str, fails: bool) -> None:  # noqa: FBT001
    verdict = judge(parse_gate(f"f1_macro >= 0.45 !{doubt}"), measured(0.5, 0.4, 0.6))

    assert (verdict.status, verdict.fails) == (status, fails)


def test_an_interval_beyond_the_limit_leaves_no_doubt() -> None:
    verdicts = [
        judge(parse_gate("f1_macro >= 0.45 !fail"), measured(*numbers))
        for numbers in [(0.6, 0.5, 0.7), (0.3, 0.2, 0.4)]
    ]

    assert [verdict.status for verdict in verdicts] == ["PASS", "FAIL"]


def test_uncertainty_is_told_with_the_samples_that_would_end_it() -> None:
    verdict = judge(parse_gate("f1_macro >= 0.45 !warn"), measured(0.5, 0.4, 0.6))

    # Four times as many halve the interval; twice as many again decide in 80 of 100 runs instead of 50.
    assert verdict.reason == (
        f"f1_macro 0.5 [0.4, 0.6] n=200 is not clearly >= 0.45; {STRADDLES}; "
        "about 1,700 samples would be needed to decide"
    )


FALL = Change(metric="f1_macro", old=0.7, new=0.64, value=-0.06, low=-0.1, high=-0.025, n=200, worse=14, better=2)
FELL = "f1_macro fell by 0.06 [0.025, 0.1] against baseline main@3f2c1d"
BETTER = replace(FALL, value=0.005, low=0.001, high=0.009, worse=2, better=3)
SAME = replace(FALL, new=0.7, value=0, low=0, high=0, worse=0, better=0)
RISE = Change(metric="mae", old=2, new=2.4, value=0.4, low=0.2, high=0.6, n=100, worse=30, better=9, numbers=True)
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
            f"{FELL}, which may miss >= baseline - 0.03: n=200 detects a fall of 0.08 or more in 80 % of runs",
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
            f"{ROSE}, which may miss <= baseline + 0.3: n=100 detects a rise of 0.586 or more in 80 % of runs",
        ),
        ("mae <= baseline * 1.05", TIMES, "FAIL", f"{GREW}, which misses <= baseline * 1.05"),
        (
            "mae <= baseline * 1.1",
            TIMES,
            "INCONCLUSIVE",
            f"{GREW}, which may miss <= baseline * 1.1: n=100 detects 1.27 times or more in 80 % of runs",
        ),
    ],
)
def test_a_change_is_judged_by_its_whole_interval(text: str, change: Change, status: str, reason: str) -> None:
    gate = parse_gate(text)
    verdict = judge_change(gate, change, "baseline main@3f2c1d", Policy())

    assert verdict.status == status
    assert verdict.reason.rpartition(" (")[0] == reason
    assert (verdict.gate, verdict.change, verdict.fails) == (gate, change, status == "FAIL")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (FALL, "(14 of 200 answers went from right to wrong, 2 the other way)"),
        (RISE, "(30 of 100 answers are farther off, 9 nearer)"),
    ],
)
def test_the_answers_behind_a_change_are_counted(change: Change, told: str) -> None:
    gate = Gate(metric=change.metric, op=">=", limit=0, other="baseline")

    assert judge_change(gate, change, "the baseline", Policy()).reason.endswith(told)


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
            f"{HIGHER}, which may miss <= naive.mean + 0.3: n=100 detects a difference of 0.586 in 80 % of runs",
            "30 of 100 answers are farther off, 9 nearer",
        ),
        (
            "mae <= naive.mean * 2",
            TIMES,
            "PASS",
            "mae is 1.2 [1.08, 1.31] times that of naive.mean, which keeps <= naive.mean * 2",
            "30 of 100 answers are farther off, 9 nearer",
        ),
    ],
)
def test_a_program_that_answers_beside_is_no_past(
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
def test_the_project_says_what_becomes_of_doubt_and_a_gate_may_say_otherwise(
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


@pytest.mark.parametrize(("worse", "said"), [(3, True), (4, False)])
def test_of_few_turned_answers_the_interval_is_said_to_be_approximate(worse: int, said: bool) -> None:  # noqa: FBT001
    found = Change(metric="accuracy", old=0.9, new=0.8, value=-0.1, low=-0.2, high=0.0, n=50, worse=worse, better=1)
    found = replace(found, changed=worse + 1)

    verdict = judge_change(parse_gate("accuracy >= baseline - 0.3"), found, "the baseline", Policy())

    assert verdict.reason.endswith("1 the other way; the interval is approximate)") is said


def test_samples_that_only_the_metric_counts_differently_are_told() -> None:
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


def test_where_no_answer_was_parsed_before_nothing_is_held_against_those_parsed_now() -> None:
    change = replace(LOWER, value=math.nan, low=math.nan, high=math.nan, n=0, fixed_parse_failures=100)

    assert judge_change(parse_gate("mae <= baseline"), change, "the baseline", Policy()).status == "INCONCLUSIVE"
