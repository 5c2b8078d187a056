"""Reports for machines: files, JUnit properties, flips; the same numbers as the terminal, with and without workers."""

from __future__ import annotations

import csv
import json
from xml.etree import ElementTree as ET

import pandas as pd
import pytest

from pytest_puma import load_run
from tests.integration.conftest import SCRIPTED, TRIAGE, Project

GATED = TRIAGE.replace("samples=8", "samples=8, gates=['accuracy >= 0.2', 'accuracy >= baseline !point']")


def test_all_formats_tell_what_the_terminal_tells(scripted: Project) -> None:
    scripted.write(test_triage=GATED)
    result = scripted.run(
        "--puma-report=json:out/run.json",
        "--puma-report=csv:out/run.csv",
        "--puma-report=md:out/run.md",
        "--puma-report=parquet:out/run.parquet",
        "--puma-report=junit-props",
        "--junitxml=junit.xml",
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["triage_jira *zero_shot *8 *f1_macro *0.1[*] *", "report: *run.json", "report: *run.md"]
    )
    out = scripted.pytester.path / "out"
    assert json.loads((out / "run.json").read_text(encoding="utf-8")) == scripted.record()
    measure = scripted.record()["outcomes"][0]["measures"]["f1_macro"]
    with (out / "run.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = (row for row in csv.DictReader(stream) if row["metric"] == "f1_macro")
    assert [float(row[name]) for name in ("value", "low", "high", "n")] == [
        measure[name] for name in ("value", "low", "high", "n")
    ]
    frame = pd.read_parquet(out / "run.parquet").set_index("metric")
    assert list(frame.loc["f1_macro", ["value", "low", "high", "n"]]) == [
        measure[name] for name in ("value", "low", "high", "n")
    ]
    assert "| f1_macro | 0.1" in " ".join((out / "run.md").read_text(encoding="utf-8").split())
    junit = ET.parse(scripted.pytester.path / "junit.xml").getroot()  # noqa: S314 - written by pytest
    properties = {each.attrib["name"]: each.attrib["value"] for each in junit.iter("property")}
    assert float(properties["puma.f1_macro"]) == measure["value"]
    assert properties["puma.cell"] == "triage_jira-zero_shot@tiny"
    assert properties["puma.gate accuracy >= 0.2"].startswith("PASS: accuracy 0.25 [")


def test_without_being_asked_junit_stays_small(alone: Project) -> None:
    alone.write(test_triage=GATED)
    alone.run("--junitxml=junit.xml").assert_outcomes(passed=1)
    assert "puma." not in (alone.pytester.path / "junit.xml").read_text(encoding="utf-8")


def test_flips_are_listed_when_asked_for(alone: Project) -> None:
    alone.write(test_triage=GATED)
    alone.run("--puma-update-baseline").assert_outcomes(passed=1)
    alone.write(conftest=SCRIPTED.replace("Major", "Minor"))
    result = alone.run("--puma-flips", "--puma-report=md:run.md", "--puma-gate=accuracy >= baseline - 1")
    flips = result.outlines[result.outlines.index("flips of triage_jira-zero_shot@tiny: 2 worse, 2 better") :]
    assert [line.split()[0] for line in flips[1:5]] == ["worse", "worse", "better", "better"]
    assert flips[1].endswith(": gold is Major, was Major, is Minor")
    assert flips[3].endswith(": gold is Minor, was Major, is Minor")
    text = (alone.pytester.path / "run.md").read_text(encoding="utf-8")
    assert "<details><summary>triage_jira-zero_shot@tiny: 2 answers worse, 2 better</summary>" in text


def test_a_cell_without_gates_has_flips_too(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run("--puma-update-baseline").assert_outcomes(passed=1)
    alone.write(conftest=SCRIPTED.replace("Major", "Minor"))
    assert "flips of triage_jira-zero_shot@tiny: 2 worse, 2 better" in alone.run("--puma-flips").outlines
    assert not [line for line in alone.run().outlines if line.startswith("flips of")]


def test_a_parquet_file_without_pyarrow_is_refused_before_the_run(
    alone: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_puma.planning.reports.find_spec", lambda _: None)
    result = alone.run("--puma-report=parquet:run.parquet")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*'parquet:run.parquet': Parquet files need pyarrow: *pip install *[[]parquet]'"])


@pytest.mark.parametrize("output", ["xml:run.xml", "json", "json:", ":run.json", "run.json", "md", "junit-props:x"])
def test_an_unknown_report_is_a_usage_error(alone: Project, output: str) -> None:
    alone.write(test_triage=TRIAGE)
    result = alone.run(f"--puma-report={output}")
    assert result.ret == 4
    expected = "json:PATH, csv:PATH, md:PATH, parquet:PATH, profiles:PATH, html:PATH, junit-props"
    result.stderr.fnmatch_lines([f"*puma: --puma-report '{output}': expected one of {expected}"])


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (".", "* is a folder"),
        ("/dev/null/x.json", "/dev/null is not a folder"),
        ("test_triage.py/x", "*.py is not a folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_a_usage_error(alone: Project, place: str, problem: str) -> None:
    alone.write(test_triage=TRIAGE)
    result = alone.run(f"--puma-report=json:{place}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*puma: --puma-report 'json:{place}': {problem}; expected the path of a file that *"])


def test_a_run_is_loaded_into_frames_whatever_process_computed_it(scripted: Project) -> None:
    scripted.write(test_triage=GATED)
    scripted.run().assert_outcomes(passed=1)
    run = load_run(scripted.pytester.path)
    assert len(run.predictions) == 8
    assert set(run.predictions["answer"]) == {"Major"}
    prompts, texts = run.predictions["prompt"].tolist(), run.predictions["fields.description"].tolist()
    assert all(prompt.count(text) == 1 for prompt, text in zip(prompts, texts, strict=True))
    assert list(run.verdicts["status"]) == ["PASS", "NO BASELINE"]
    assert run.measures.set_index("metric").loc["accuracy", "value"] == 0.25
