"""What a user reads of a run: every error in Markdown and JSON, lines that fit, values beside pytest's own words."""

from __future__ import annotations

import json

import pytest

from tests.integration.conftest import SCRIPTED, TRIAGE, Project

#: The engine fails for one strategy: its cell is an error.
BROKEN = SCRIPTED.replace(
    "def answer(prompt):\n",
    "def answer(prompt):\n    if 'objective' in prompt.lower():\n        raise RuntimeError('the GPU fell off')\n",
)
RED = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "rcoif"], samples=8, gates={gates})
def test_triage(puma):
    {body}
"""
REPORTS = ("--puma-report=md:run.md", "--puma-report=json:run.json")


def _markdown(project: Project) -> list[str]:
    return (project.pytester.path / "run.md").read_text(encoding="utf-8").splitlines()


def test_an_error_beside_a_failed_body_is_told_by_markdown_and_json(scripted: Project) -> None:
    scripted.write(test_triage=RED.format(gates=[], body="assert puma['accuracy'] > 0.9"), conftest=BROKEN)
    scripted.run(*REPORTS).assert_outcomes(failed=1, errors=1)

    heading, *lines = _markdown(scripted)
    assert heading == "### puma: 1 error, 1 test failed"
    assert "- **FAILED** `triage_jira-zero_shot@tiny`: assert 0.25 > 0.9" in lines
    (error,) = (line for line in lines if line.startswith("- **ERROR** `triage_jira-rcoif@tiny`: "))
    assert "the GPU fell off" in error
    found = json.loads((scripted.pytester.path / "run.json").read_text(encoding="utf-8"))
    assert found == scripted.record()
    assert [(each["cell"], each["when"]) for each in found["faults"]] == [
        ("triage_jira-zero_shot@tiny", "call"),
        ("triage_jira-rcoif@tiny", "setup"),
    ]
    assert found["faults"][1]["node_id"] == "test_triage.py::test_triage[triage_jira-rcoif@tiny]"


def test_a_run_whose_only_cell_is_an_error_has_reports_and_a_record(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE.replace("zero_shot", "rcoif"), conftest=BROKEN)
    scripted.run(*REPORTS).assert_outcomes(errors=1)

    assert _markdown(scripted)[0] == "### puma: 1 error"
    (fault,) = scripted.record()["faults"]
    assert "the GPU fell off" in fault["message"]
    assert scripted.record()["outcomes"] == []


def test_a_missed_gate_of_the_run_is_in_the_heading(scripted: Project) -> None:
    scripted.write(test_triage=RED.format(gates=["max(accuracy over strategy) >= 0.9"], body="pass"))
    scripted.run(*REPORTS).assert_outcomes(passed=2, failed=1)

    heading, *lines = _markdown(scripted)
    assert heading == "### puma: 1 gate on several cells missed"
    assert any(line.startswith("- **FAIL** `triage_jira@tiny`: max of 2, zero_shot: accuracy 0.25 ") for line in lines)


def test_a_worker_that_ends_is_an_error_of_its_cell(scripted: Project) -> None:
    if not scripted.workers:
        pytest.skip("there is no worker")
    scripted.write(test_triage=RED.format(gates=[], body="import os; os._exit(1)"))
    scripted.run(*REPORTS)

    assert _markdown(scripted)[0] == "### puma: 2 errors"
    assert {each["when"] for each in scripted.record()["faults"]} == {"crash"}
