"""`--puma-run-code`: metrics that run programs of the model."""

from __future__ import annotations

import json

import pytest

from pytest_puma.sandbox.confinement import landlock_version
from tests.integration.conftest import Project

CONFTEST = """
from pytest_puma import metric
from pytest_puma.core import Program
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend(lambda text: "Minor")

@metric(needs={"sandbox"})
def runs(sample, prediction):
    ran = yield Program(text=f"answer = {prediction.text!r}; print(answer); assert answer == 'Minor'")
    return ran.passed

def pytest_puma_metrics():
    return [runs]
"""
BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=4, metrics=["runs"], gates=["runs >= 0.5"])
def test_triage(puma):
    assert puma["runs"] == 1
"""
confined = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")


def write(project: Project) -> None:
    project.write(conftest=CONFTEST, test_triage=BENCHMARK)


def test_without_the_option_a_metric_that_runs_programs_is_a_collection_error(project: Project) -> None:
    write(project)
    result = project.run()
    result.stdout.fnmatch_lines(
        ["*triage_jira: metric 'runs' runs programs that the model wrote; expected --puma-run-code, which runs them*"]
    )
    result.assert_outcomes(errors=1)


@confined
def test_programs_run_in_the_sandbox(project: Project) -> None:
    write(project)
    result = project.run("--puma-run-code=sandbox", "--puma-report=json:out.json")
    result.assert_outcomes(passed=1)
    (outcome,) = json.loads((project.pytester.path / "out.json").read_text(encoding="utf-8"))["outcomes"]
    assert outcome["signature"]["sandbox"]["confinement"] == "landlock"


def test_each_report_repeats_that_programs_ran_unconfined(project: Project) -> None:
    write(project)
    result = project.run("--puma-run-code=unconfined", "--puma-report=md:out.md")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*programs that the model wrote ran unconfined*(--puma-run-code=unconfined)*"])
    assert "ran unconfined" in (project.pytester.path / "out.md").read_text(encoding="utf-8")


def test_a_path_behind_the_option_is_no_mode(project: Project) -> None:
    write(project)
    result = project.run("--puma-run-code", "test_triage.py")
    result.stderr.fnmatch_lines(["*--puma-run-code: found 'test_triage.py'; expected one of off, sandbox, unconfined*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
