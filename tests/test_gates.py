from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Gate, Measure, SettingsError
from pytest_puma.gates import applies, judge, parse_gate

CELL = "triage_jira-few_shot_3@qwen2.5-3b"


@pytest.mark.parametrize(
    ("text", "scope", "metric", "op", "limit"),
    [
        ("f1_macro >= 0.45", None, "f1_macro", ">=", 0.45),
        ("f1_macro>=0.45", None, "f1_macro", ">=", 0.45),
        ("  mae  <  3 ", None, "mae", "<", 3.0),
        ("own+metric-2 > -1.5", None, "own+metric-2", ">", -1.5),
        ("brier <= .5", None, "brier", "<=", 0.5),
        ("tokens_prompt_mean < 2e3", None, "tokens_prompt_mean", "<", 2000.0),
        ("triage_jira: f1_macro >= 0.45", "triage_jira", "f1_macro", ">=", 0.45),
        ("triage_jira:f1_macro >= 0.45", "triage_jira", "f1_macro", ">=", 0.45),
        ("est-few-shot-*@qwen*: mae <= 3", "est-few-shot-*@qwen*", "mae", "<=", 3.0),
        ("mae_by_bin.13-21 <= 4", None, "mae_by_bin.13-21", "<=", 4.0),
        ("mae_by_bin.34+ <= 20", None, "mae_by_bin.34+", "<=", 20.0),
        ("mae_by_bin.34+<=+20", None, "mae_by_bin.34+", "<=", 20.0),
        ("per_class.Critical.recall > 0.6", None, "per_class.Critical.recall", ">", 0.6),
        ("per_class.Very High.f1 > 0.6", None, "per_class.Very High.f1", ">", 0.6),
        ("per_class.<1h.precision > 0.6", None, "per_class.<1h.precision", ">", 0.6),
        ("*: per_class.C: drive.f1 > 0.5", "*", "per_class.C: drive.f1", ">", 0.5),
    ],
)
def test_a_gate_is_read_as_written(text: str, scope: str | None, metric: str, op: str, limit: float) -> None:
    assert parse_gate(text) == Gate(scope=scope, metric=metric, op=op, limit=limit)


@pytest.mark.parametrize(
    ("text", "column", "found"),
    [
        ("", 1, "found no operator"),
        ("f1_macro", 9, "found no operator"),
        ("f1_macro 0.45  ", 14, "found no operator"),
        ("f1_macro => 0.45", 10, "found '=>'"),
        ("f1_macro == 0.45", 10, "found '=='"),
        ("f1_macro = 0.45", 10, "found '='"),
        ("f1_macro != 0.45", 10, "found '!='"),
        ("f1_macro >> 0.45", 10, "found '>>'"),
        (">= 0.45", 1, "found no metric"),
        ("triage: >= 0.45", 9, "found no metric"),
        (": f1_macro >= 0.45", 1, "found no scope before ':'"),
        ("  : f1_macro >= 0.45", 1, "found no scope before ':'"),
        ("triage f1_macro >= 0.45", 8, "found 'f1_macro'"),
        ("triage: f1 macro >= 0.45", 12, "found 'macro'"),
        ("f1_macro >= 0.45 <= 0.7", 10, "found '>= 0.45'"),
        ("a: b: f1_macro >= 0.45", 5, "found ': f1_macro'"),
        ("f1_macro >=", 12, "found no number"),
        ("f1_macro >= high", 13, "found 'high'"),
        ("f1_macro >= 45%", 13, "found '45%'"),
        ("f1_macro >= 0.4 5", 13, "found '0.4 5'"),
        ("f1_macro >= 1_0", 13, "found '1_0'"),
        ("f1_macro >= nan", 13, "found 'nan'"),
        ("f1_macro >= inf", 13, "found 'inf'"),
        ("f1_macro >= 1e999", 13, "found '1e999'"),
        ("f1_macro >= .", 13, "found '.'"),
    ],
)
def test_a_malformed_gate_is_refused_with_its_text_and_column(text: str, column: int, found: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(f"gate {text!r}, column {column}: {found}; expected ")):
        parse_gate(text)


words = st.from_regex(r"[\w.+-]+", fullmatch=True)
labels = st.text(min_size=1).filter(str.isprintable)
metrics = words | st.builds("per_class.{}.{}".format, labels, st.sampled_from(["precision", "recall", "f1"]))
scopes = st.from_regex(r"[\w*?@.+-]+", fullmatch=True)
# As many digits as `str(gate)` writes.
limits = st.floats(allow_nan=False, allow_infinity=False).map(lambda limit: float(f"{limit:g}")).filter(math.isfinite)


@given(st.builds(Gate, metric=metrics, op=st.sampled_from([">=", "<=", ">", "<"]), limit=limits, scope=scopes))
def test_a_gate_reads_back_as_it_was_written(gate: Gate) -> None:
    assert parse_gate(str(gate)) == gate


@given(st.builds(Gate, metric=words, op=st.sampled_from([">=", "<=", ">", "<"]), limit=limits))
def test_a_gate_without_scope_reads_back_as_it_was_written(gate: Gate) -> None:
    assert parse_gate(str(gate)) == gate


@given(st.text(alphabet="f1: .<>=!-+%*e\n") | st.text())
def test_any_text_is_a_gate_or_a_settings_error(text: str) -> None:
    try:
        gate = parse_gate(text)
    except SettingsError as error:
        assert repr(text) in str(error)  # noqa: PT017 - the other branch is as good
    else:
        assert gate.metric in text


@pytest.mark.parametrize(
    "scope",
    [
        None,
        "triage_jira",
        "triage_jira-few_shot_3",
        "triage_jira-few-shot-3",
        "triage_jira-few_shot_3@qwen2.5-3b",
        "triage_jira-few-shot-3@qwen2.5-3b",
        "triage_jir?",
        "triage_jira-*",
        "*-few_shot_?@*",
        "*-few-shot-?@*",
        "*-few_shot_3",
        "*@qwen*",
        "*",
    ],
)
def test_a_scope_takes_in_the_cell_it_names(scope: str | None) -> None:
    assert applies(Gate(scope=scope, metric="f1_macro", op=">=", limit=0.5), "triage_jira", CELL)


@pytest.mark.parametrize(
    "scope",
    [
        "triage",
        "triage-*",
        "triage-jira",
        "triage_jira-few_shot",
        "triage_jira-few_shot_5",
        "few_shot_3",
        "qwen2.5-3b",
        "triage_jira-few_shot_3@qwen2.5_3b",
        "triage_jira-few_shot_3@qwen2.5-3",
        "Triage_jira",
        "?",
        "*[3]@*",
        "estimation_tawos*",
    ],
)
def test_a_scope_leaves_out_other_cells(scope: str) -> None:
    assert not applies(Gate(scope=scope, metric="f1_macro", op=">=", limit=0.5), "triage_jira", CELL)


def test_brackets_in_a_scope_stand_for_themselves() -> None:
    gate = Gate(scope="*@qwen[v2]", metric="f1_macro", op=">=", limit=0.5)

    assert applies(gate, "triage_jira", "triage_jira-egi@qwen[v2]")
    assert not applies(gate, "triage_jira", "triage_jira-egi@qwenv")


def test_hyphens_in_a_scenario_name_are_not_taken_for_the_strategy() -> None:
    gate = Gate(scope="my-task-few-shot-3", metric="f1_macro", op=">=", limit=0.5)

    assert applies(gate, "my-task", "my-task-few_shot_3@m")
    assert not applies(gate, "my_task", "my_task-few_shot_3@m")


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
            "f1_macro 0.61 [0.55, 0.67] n=200 keeps > 0.55; the interval straddles the limit",
        ),
        (
            "f1_macro >= 0.45",
            measured(0.41, 0.36, 0.46),
            "f1_macro 0.41 [0.36, 0.46] n=200 is under 0.45; the interval straddles the limit",
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
    assert verdict.reason == "ece was not measured: the answers of this cell do not give it"
    assert verdict.measure is None
