"""A failing verdict always ends in a failed run, whatever plugins do with tests and reports."""

from __future__ import annotations

import pytest

from tests.integration.conftest import SCRIPTED, Project

MISSED = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8, gates=["accuracy >= 1", "f1_macro >= 0"])
def test_t(puma):
    pass
"""
CALLED = """
def pytest_collection_modifyitems(items):
    for item in items:
        item.runtest = lambda item=item: item.obj(**{name: item.funcargs[name] for name in item._fixtureinfo.argnames})
"""
SWALLOWED = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call():
    try:
        return (yield)
    except BaseException:
        return True
"""
REWRITTEN = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport():
    report = yield
    report.outcome = "OUTCOME"
    return report
"""
SENTENCE = "puma: test_t.py::test_t[[]*] misses the gate 'accuracy >= 1', but was not reported as failed; *"
WAYS = {
    "called": CALLED,
    "swallowed": SWALLOWED,
    "passed": REWRITTEN.replace("OUTCOME", "passed"),
    "skipped": REWRITTEN.replace("OUTCOME", "skipped"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_failing_verdict_whose_test_does_not_fail_fails_the_run(project: Project, way: str) -> None:
    project.write(test_t=MISSED, conftest=SCRIPTED + WAYS[way])
    result = project.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([SENTENCE])
    (problem,) = project.record()["problems"]
    assert problem.startswith("test_t.py::test_t[triage_jira-zero_shot@tiny] misses the gate 'accuracy >= 1', but ")


@pytest.mark.parametrize("mark", ["xfail", "xfail(strict=True)"])
def test_xfail_is_no_problem_of_the_run(project: Project, mark: str) -> None:
    project.write(test_t=MISSED.replace("@", f"@pytest.mark.{mark}\n@", 1), conftest=SCRIPTED)
    result = project.run()
    result.assert_outcomes(xfailed=1)
    assert (result.ret, project.record()["problems"]) == (0, [])
