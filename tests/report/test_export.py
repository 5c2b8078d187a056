from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import pandas as pd

from pytest_puma.gates.grammar import parse_gate
from pytest_puma.report.export import COLUMNS, as_csv, junit_properties
from tests.factories import measure, outcome, run, verdict


def test_each_measure_of_each_cell_has_a_line() -> None:
    text = as_csv(run(outcome(verdicts=(verdict(), verdict(status="INCONCLUSIVE"))), outcome("triage-egi@m")))
    result = pd.read_csv(io.StringIO(text))

    assert tuple(result.columns) == COLUMNS
    assert list(result["cell"]) == ["triage-zero_shot@m"] * 3 + ["triage-egi@m"] * 3
    assert list(result["metric"]) == ["accuracy", "ece", "parse_failure_rate"] * 2
    first = result.iloc[0]
    assert (first["value"], first["low"], first["high"], first["n"]) == (0.66, 0.52, 0.77, 50)
    assert first["verdicts"] == "PASS; INCONCLUSIVE"
    assert result["verdicts"].isna().sum() == 5


def test_a_gate_without_a_measure_has_a_line_of_its_own() -> None:
    tested = verdict(gate=parse_gate("no_regression"), status="FAIL")
    absent = verdict(gate=parse_gate("brier <= 0.5"), status="NOT RUN")
    *_, first, second = as_csv(run(outcome(verdicts=(verdict(), tested, absent)))).splitlines()
    assert first == "triage-zero_shot@m,triage,zero_shot,,m,no_regression,,,,,,,FAIL"
    assert second == "triage-zero_shot@m,triage,zero_shot,,m,brier,,,,,,,NOT RUN"


def test_a_perturbation_has_a_column() -> None:
    perturbed = outcome("triage-zero_shot+case_upper@m")
    result = pd.read_csv(io.StringIO(as_csv(run(outcome(), perturbed))))

    assert list(result["perturbation"].fillna("")) == [""] * 3 + ["case_upper"] * 3
    assert set(result["strategy"]) == {"zero_shot"}


def test_what_is_not_known_is_empty() -> None:
    assert "triage-zero_shot@m,triage,zero_shot,,m,ece,,,,,0,nothing to measure,\n" in as_csv(run(outcome()))


def test_a_label_that_is_a_formula_is_text_and_a_negative_value_a_number() -> None:
    named = measure("=cmd|' /C calc'!A0", -0.5)
    text = as_csv(run(outcome(measures={**outcome().measures, "=cmd": named})))
    assert f",'{named.metric},-0.5," in text


def test_labels_and_reasons_with_controls_are_still_xml() -> None:
    named = measure("per_class.\x00\x1b.recall")
    kept = verdict(reason="\ud800 \ufffe ok")
    result = junit_properties(outcome(measures={named.metric: named}, verdicts=(kept,)))

    assert ("puma.per_class.\\x00\\x1b.recall", "0.66") in result
    assert result[-1] == ("puma.gate accuracy >= 0.5", "PASS: \\ud800 \\ufffe ok")
    for name, value in result:
        ET.fromstring(ET.tostring(ET.Element("property", name=name, value=value)))  # noqa: S314 - our own
