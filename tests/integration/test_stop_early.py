"""`--puma-stop-early`, as its user sees it."""

from __future__ import annotations

import csv
import json

from tests.integration.conftest import Project

GATED = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "option_scoring"], samples=50, gates=["accuracy <= 0.95"])
def test_triage(puma):
    pass

@pytest.mark.puma("estimation_tawos", strategies=["zero_shot"], samples=20)
def test_points(puma):
    pass
"""


def test_the_number_of_omitted_samples_is_reported(scripted: Project) -> None:
    scripted.write(test_gated=GATED)
    result = scripted.run(
        "--puma-stop-early", "--puma-report=json:run.json", "--puma-report=md:run.md", "--puma-report=csv:run.csv"
    )

    result.assert_outcomes(passed=3)
    lines = (
        "stopped early: 2 of 3 cells; 54 of 120 samples were not needed; "
        "intervals at 98.75 % hold jointly at all interim analyses with 95 %"
    )
    result.stdout.fnmatch_lines(["triage_jira *zero_shot *[[]*[]] at 98.75 % *", "estimation_tawos *[[]*[]]  *", lines])
    markdown, sheet = ((scripted.pytester.path / name).read_text(encoding="utf-8") for name in ("run.md", "run.csv"))
    assert f"- {lines}" in markdown
    assert markdown.count("] at 98.75 % |") == 4, "two cells with two metrics each"
    levels = {(row["scenario"], row["level"]) for row in csv.DictReader(sheet.splitlines()) if row["low"]}
    assert levels == {("triage_jira", "0.9875"), ("estimation_tawos", "0.95")}
    outcomes = json.loads((scripted.pytester.path / "run.json").read_text(encoding="utf-8"))["outcomes"]
    assert outcomes[0]["measures"]["accuracy"]["level"] == 0.9875
    assert {outcome["cell"].partition("@")[0]: outcome["left_out"] for outcome in outcomes} == {
        "triage_jira-zero_shot": 27,
        "triage_jira-option_scoring": 27,
        "estimation_tawos-zero_shot": 0,
    }


def test_the_ini_file_may_ask_for_it(alone: Project) -> None:
    alone.write(test_gated=GATED)
    alone.pytester.makeini("[pytest]\npuma_naive_baselines = false\npuma_stop_early = true\n")
    alone.run().stdout.fnmatch_lines(["stopped early: 2 of 3 cells; *"])


def test_a_baseline_is_never_made_of_a_part(alone: Project) -> None:
    alone.write(test_gated=GATED)
    result = alone.run("--puma-stop-early", "--puma-update-baseline")

    assert result.ret == 4
    lines = "--puma-update-baseline and --puma-stop-early: a baseline needs all samples of its cells; expected one of"
    result.stderr.fnmatch_lines([f"ERROR: puma: {lines} the two"])
