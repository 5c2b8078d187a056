"""Output of a run for its user: every error in Markdown and JSON, lines that fit, values beside pytest's own words."""

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


def test_markdown_and_json_have_an_error_beside_a_failed_body(alone: Project) -> None:
    alone.write(test_triage=RED.format(gates=[], body="assert puma['accuracy'] > 0.9"), conftest=BROKEN)
    alone.run(*REPORTS).assert_outcomes(failed=1, errors=1)

    heading, *lines = _markdown(alone)
    assert heading == "### puma: 1 error, 1 test failed"
    assert "- **FAILED** `triage_jira-zero_shot@tiny`: assert 0.25 > 0.9" in lines
    (error,) = (line for line in lines if line.startswith("- **ERROR** `triage_jira-rcoif@tiny`: "))
    assert "the GPU fell off" in error
    result = json.loads((alone.pytester.path / "run.json").read_text(encoding="utf-8"))
    assert result == alone.record()
    assert [(each["cell"], each["when"]) for each in result["faults"]] == [
        ("triage_jira-zero_shot@tiny", "call"),
        ("triage_jira-rcoif@tiny", "setup"),
    ]
    assert result["faults"][1]["node_id"] == "test_triage.py::test_triage[triage_jira-rcoif@tiny]"


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


GATED = TRIAGE.replace("samples=8", "samples=8, gates=['accuracy >= 0.9', 'f1_macro >= 0.05']")
ID = "triage_jira-zero_shot@tiny"
SHORT = "accuracy 0.25 < 0.9"


def _after(lines: list[str], start: str) -> list[str]:
    """The lines behind the one that begins so, up to the next line of pytest's own."""
    (first, *_) = (place for place, line in enumerate(lines) if line.strip("=_ ").startswith(start))
    rest = lines[first + 1 :]
    return rest[: next(place for place, line in enumerate(rest) if line.startswith(("===", "___")))]


@pytest.mark.parametrize("ci", [True, False])
def test_the_reason_of_a_missed_gate_stands_once_and_in_a_line(
    scripted: Project, monkeypatch: pytest.MonkeyPatch, *, ci: bool
) -> None:
    monkeypatch.setenv("CI", "1" if ci else "")
    scripted.write(test_triage=GATED)
    result = scripted.run("--junitxml=junit.xml")

    first, blank, *misses = [line for line in _after(result.outlines, "test_triage[") if not line.startswith("[gw")]
    assert first.startswith("accuracy 0.25 [")
    assert (blank, misses[0]) == ("", "the worst 5 of 6 misses:")
    assert _after(result.outlines, "short test summary") == [f"FAILED test_triage.py::test_triage[{ID}] - {SHORT}"]
    junit = (scripted.pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert 'message="accuracy 0.25 &lt; 0.9"' in junit
    assert "the worst 5 of 6 misses:" in junit


def test_a_reason_that_has_no_room_in_the_short_summary_stands_below_it(
    scripted: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("CI", "")
    scripted.write(test_triage=GATED, test_engine=TRIAGE.replace("zero_shot", "rcoif"), conftest=BROKEN)
    failed = f"FAILED test_triage.py::test_triage[{ID}] "
    error = "ERROR test_engine.py::test_triage[triage_jira-rcoif@tiny] "
    reason = "  triage_jira-rcoif@tiny: RuntimeError: the GPU fell off"
    first, second, *reasons = _after(scripted.run().outlines, "short test summary")
    assert first.startswith(failed)
    assert second.startswith(error)
    assert reasons == ["reasons:", f"  {ID}: {SHORT}", reason]

    assert "reasons:" not in scripted.run("-vv").outlines
    # pytest shows the reason behind a line with colours, however long the line is.
    assert "reasons:" not in scripted.run("--color=yes").outlines
    assert "reasons:" not in scripted.run("--no-summary").outlines
    assert reason not in scripted.run("-rf").outlines
    monkeypatch.setenv("CI", "1")
    assert "reasons:" not in scripted.run().outlines


def test_the_first_run_of_a_project_ends_with_what_to_do_next(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run().stdout.fnmatch_lines(["next: --puma-report html:report.html shows every answer *"])
    second = alone.run().stdout
    second.no_fnmatch_line("next: *")
    second.fnmatch_lines(["compare: pytest-puma compare last~1 last"])


def test_what_the_first_run_did_is_no_next_step(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run("--puma-report=html:r.html").stdout.fnmatch_lines(
        ["next: --puma-update-baseline stores these answers, *"]
    )
    alone.pytester.path.joinpath(".puma").rename(alone.pytester.path / "old")
    alone.run("--puma-report=html:r.html", "--puma-update-baseline").stdout.no_fnmatch_line("next: *")


def test_the_traceback_option_sets_the_level_of_detail(alone: Project) -> None:
    alone.write(test_triage=GATED)
    place = f"{alone.pytester.path / 'test_triage.py'}:3: {SHORT}"

    assert _after(alone.run("--tb=line").outlines, "FAILURES") == [place]
    (sentence,) = _after(alone.run("--tb=short").outlines, "test_triage[")
    assert sentence.startswith("accuracy 0.25 [")
    result = alone.run("--tb=no")
    assert "FAILURES" not in result.stdout.str()
    result.stdout.fnmatch_lines([f"FAILED *{ID}] - {SHORT}"])


def test_an_engine_fault_is_shown_at_the_test_and_not_within_the_plugin(scripted: Project) -> None:
    broken = BROKEN.replace("RuntimeError", "EngineError").replace(
        "def answer", "from pytest_puma.core import EngineError\n\ndef answer", 1
    )
    scripted.write(test_triage=TRIAGE.replace("zero_shot", "rcoif"), conftest=broken)
    result = scripted.run()

    result.assert_outcomes(errors=1)
    lines = [line for line in result.outlines if "the GPU fell off" in line]
    assert lines == [
        "the GPU fell off",
        "ERROR test_triage.py::test_triage[triage_jira-rcoif@tiny] - the GPU fell off",
    ]


def test_the_value_stands_behind_the_outcome_where_pytest_is_verbose(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE, test_gated=GATED)

    verbose = scripted.run("-v", "test_triage.py").stdout
    verbose.fnmatch_lines(
        [f"*PASSED (f1_macro=0.1) *{ID}]*" if scripted.workers else f"*{ID}] PASSED (f1_macro=0.1) *"]
    )
    scripted.run("-v", "test_gated.py").stdout.fnmatch_lines([f"FAILED test_gated.py::test_triage[[]{ID}] - {SHORT}"])
    assert "f1_macro=" not in scripted.run("-q", "test_triage.py").stdout.str()
