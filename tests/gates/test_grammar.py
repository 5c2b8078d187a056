"""The grammar of gates."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_puma.core import Gate, SettingsError
from pytest_puma.gates.grammar import parse_gate


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
    ("text", "column", "problem"),
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
        ("f1_macro >= baseline 0.02", 22, "found '0.02'"),
        ("f1_macro >= baseline / 2", 22, "found '/ 2'"),
        ("f1_macro >= baseline -", 23, "found no number"),
        ("f1_macro >= baseline - - 2", 24, "found '- 2'"),
        ("f1_macro >= baseline - high", 24, "found 'high'"),
        ("max(f1_macro over scenario) >= 0.6", 19, "found 'scenario'"),
        ("max(f1_macro over ) >= 0.6", 19, "found ''"),
        ("mean(f1_macro over strategy) >= 0.6", 20, "found 'strategy'"),
        ("mean(f1_macro over scenario) >= baseline", 33, "found 'baseline'"),
        ("max(f1 macro over model) >= 0.6", 8, "found 'macro'"),
        ("max(f1_macro) >= 0.6", 4, "found '(f1_macro)'"),
        ("max(f1_macro over model) >= baseline", 29, "found 'baseline'"),
        ("rcoif.f1_macro >= egi.accuracy", 19, "found 'egi.accuracy'"),
        ("rcoif.f1_macro >= f1_macro", 19, "found 'f1_macro'"),
        ("f1_macro >= egi.f1_macro", 13, "found 'egi.f1_macro'"),
        ("f1_macro >= reference", 13, "found 'reference'"),
        ("f1_macro >= reference.tfidf", 13, "found 'reference.tfidf'"),
        ("f1_macro >= naive.a.b", 13, "found 'naive.a.b'"),
        ("f1_macro >= baseline.tfidf", 13, "found 'baseline.tfidf'"),
        ("f1_macro >= baselines - 1", 13, "found 'baselines - 1'"),
        ("f1_macro >= 0.5 - baseline", 13, "found '0.5 - baseline'"),
        ("mae <= baseline * 0", 19, "found '0'"),
        ("mae <= baseline * -1.05", 19, "found '-1.05'"),
        ("f1_macro >= 0.45 !", 18, "found '!'"),
        ("f1_macro >= 0.45 !strict", 18, "found '!strict'"),
        ("f1_macro >= 0.45 !fail !fail", 18, "found '!'"),
        ("f1_macro >= !fail", 13, "found no number"),
        ("f1_macro !fail", 9, "found no operator"),
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
def test_a_malformed_gate_is_refused_with_its_text_and_column(text: str, column: int, problem: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(f"gate {text!r}, column {column}: {problem}; expected ")):
        parse_gate(text)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("f1_macro >= baseline", {"limit": 0.0}),
        ("f1_macro >= baseline - 0.02", {"limit": -0.02}),
        ("f1_macro>=baseline-.02", {"limit": -0.02}),
        ("f1_macro > baseline + 1e-3", {"op": ">", "limit": 0.001}),
        ("f1_macro >= baseline - -0.02", {"limit": 0.02}),
        ("f1_macro <= baseline * 1.05", {"op": "<=", "limit": 1.05, "quotient": True}),
        ("f1_macro<=baseline*1.05!fail", {"op": "<=", "limit": 1.05, "quotient": True, "doubt": "fail"}),
        ("f1_macro > naive.tfidf", {"op": ">", "limit": 0.0, "other": "naive.tfidf"}),
        ("f1_macro>=naive.own_2+.1", {"limit": 0.1, "other": "naive.own_2"}),
        ("f1_macro <= naive.mean * 0.9", {"op": "<=", "limit": 0.9, "quotient": True, "other": "naive.mean"}),
        ("a*: f1_macro >= baseline ! warn ", {"scope": "a*", "limit": 0.0, "doubt": "warn"}),
    ],
)
def test_a_comparing_gate_is_read_as_written(text: str, fields: dict[str, Any]) -> None:
    assert parse_gate(text) == Gate(**{"metric": "f1_macro", "op": ">=", "other": "baseline"} | fields)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("max(f1_macro over strategy) >= 0.6", {"pick": "max", "axis": "strategy", "limit": 0.6}),
        ("mean(f1_macro over scenario) > 0.6", {"pick": "mean", "axis": "scenario", "op": ">", "limit": 0.6}),
        ("min( f1_macro  over model )>=.6 !fail", {"pick": "min", "axis": "model", "limit": 0.6, "doubt": "fail"}),
        ("few_shot_3.f1_macro >= zero_shot.f1_macro", {"strategy": "few_shot_3", "other": "zero_shot", "limit": 0.0}),
        (
            "a*: rcoif.f1_macro>=egi.f1_macro-0.02",
            {"scope": "a*", "strategy": "rcoif", "other": "egi", "limit": -0.02},
        ),
        (
            "rcoif.f1_macro >= egi.f1_macro * 0.9",
            {"strategy": "rcoif", "other": "egi", "limit": 0.9, "quotient": True},
        ),
        (
            "rcoif.per_class.Very High.f1 >= egi.per_class.Very High.f1",
            {"strategy": "rcoif", "other": "egi", "metric": "per_class.Very High.f1", "limit": 0.0},
        ),
    ],
)
def test_a_gate_about_several_cells_is_read_as_written(text: str, fields: dict[str, Any]) -> None:
    gate = parse_gate(text)

    assert gate == Gate(**{"metric": "f1_macro", "op": ">="} | fields)
    assert gate.is_cross_cell
    assert parse_gate(str(gate)) == gate


def test_a_dotted_metric_is_no_strategy() -> None:
    gates = [parse_gate("mae_by_bin.5-8 <= 3"), parse_gate("mae_by_bin.5-8 <= baseline + 1")]

    assert [(gate.metric, gate.is_cross_cell) for gate in gates] == [("mae_by_bin.5-8", False)] * 2


@pytest.mark.parametrize("doubt", ["warn", "fail", "point"])
def test_a_gate_may_choose_the_verdict_in_doubt(doubt: Any) -> None:
    assert parse_gate(f"f1_macro >= 0.5 !{doubt}") == Gate(metric="f1_macro", op=">=", limit=0.5, doubt=doubt)


words = st.from_regex(r"[\w.+-]+", fullmatch=True)
labels = st.text(min_size=1).filter(str.isprintable)
metrics = words | st.builds("per_class.{}.{}".format, labels, st.sampled_from(["precision", "recall", "f1"]))
scopes = st.from_regex(r"[\w*?@.+-]+", fullmatch=True)
# As many digits as `str(gate)` writes.
limits = st.floats(allow_nan=False, allow_infinity=False).map(lambda limit: float(f"{limit:g}")).filter(math.isfinite)


@given(st.builds(Gate, metric=metrics, op=st.sampled_from([">=", "<=", ">", "<"]), limit=limits, scope=scopes))
def test_a_gate_reads_back_as_it_was_written(gate: Gate) -> None:
    assert parse_gate(str(gate)) == gate


others: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"other": "baseline"}, {"other": "baseline", "quotient": True}, {"other": "naive.tfidf"}]
)
doubts = st.sampled_from([None, "warn", "fail", "point"])


@given(st.builds(Gate, metric=words, op=st.sampled_from([">=", "<"]), limit=limits, scope=scopes, doubt=doubts), others)
def test_a_comparing_gate_reads_back_as_it_was_written(gate: Gate, other: dict[str, Any]) -> None:
    gate = replace(gate, **other)
    assume(not gate.quotient or gate.limit > 0)

    assert parse_gate(str(gate)) == gate


@given(st.builds(Gate, metric=words, op=st.sampled_from([">=", "<=", ">", "<"]), limit=limits))
def test_a_gate_without_scope_reads_back_as_it_was_written(gate: Gate) -> None:
    assert parse_gate(str(gate)) == gate


@given(st.text(alphabet="f1: .<>=!-+%*baseline\n") | st.text())
def test_any_text_is_a_gate_or_a_settings_error(text: str) -> None:
    try:
        gate = parse_gate(text)
    except SettingsError as error:
        assert repr(text) in str(error)  # noqa: PT017 - the other branch is as good
    else:
        assert gate.metric in text


def test_a_negative_zero_is_written_as_zero() -> None:
    assert str(parse_gate("mae <= -0.0")) == "mae <= 0"


@pytest.mark.parametrize("part", ["[lang=de]", "[mean lang]", "[lang=de,level=x >= y]"])
def test_two_strategies_are_compared_on_a_slice(part: str) -> None:
    gate = parse_gate(f"egi.accuracy{part} >= rcoif.accuracy{part} - 0.1 !fail")
    assert (gate.metric, gate.strategy, gate.other, gate.limit) == (f"accuracy{part}", "egi", "rcoif", -0.1)
