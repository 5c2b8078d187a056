"""Verdicts of gates with a fixed limit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Gate, Measure
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import judge
from tests import factories

STRADDLES = "the interval straddles the limit"


def measured(value: float, low: float = math.nan, high: float = math.nan, n: int = 200) -> dict[str, Measure]:
    return {"f1_macro": factories.measure("f1_macro", value, low, high, n=n)}


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
    values = 0.5 - 1e-9, 0.5, 0.5 + 1e-9

    assert [judge(gate, measured(value)).status for value in values] == [below, equal, above]


#: Numbers that floating point computes slightly below and above their true value.
ALMOST = [((0.7 + 0.7 + 0.7) / 3, 0.7), (0.1 + 0.2, 0.3)]


@pytest.mark.parametrize(("value", "limit"), ALMOST)
@pytest.mark.parametrize(("op", "status"), [(">=", "PASS"), ("<=", "PASS"), (">", "FAIL"), ("<", "FAIL")])
def test_a_value_that_only_floating_point_separates_from_the_limit_equals_it(
    value: float, limit: float, op: str, status: str
) -> None:
    assert value != limit
    verdict = judge(Gate(metric="f1_macro", op=op, limit=limit), measured(value))
    assert verdict.status == status
    assert verdict.reason.startswith(f"f1_macro {limit} n=200 ")


@pytest.mark.parametrize(("end", "limit"), ALMOST)
def test_so_does_the_end_of_an_interval(end: float, limit: float) -> None:
    low, high = (end, 0.9) if end < limit else (0.1, end)
    gate = Gate(metric="f1_macro", op=">=" if end < limit else "<=", limit=limit, doubt="warn")
    assert judge(gate, measured((low + high) / 2, low, high)).status == "PASS"


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


def test_doubt_comes_with_the_number_of_samples_that_would_decide() -> None:
    verdict = judge(parse_gate("f1_macro >= 0.45 !warn"), measured(0.5, 0.4, 0.6))

    # Four times as many halve the interval; twice as many again decide in 80 of 100 runs instead of 50.
    assert verdict.reason == (
        f"f1_macro 0.5 [0.4, 0.6] n=200 is not clearly >= 0.45; {STRADDLES}; "
        "about 1,700 samples would be needed to decide"
    )
