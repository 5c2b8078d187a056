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
#: Every report of a failure, also those of the run as a whole.
LOGGED = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_logreport(report):
    if report.failed:
        report.outcome = "passed"
    return (yield)
"""
WAYS = {
    "called": CALLED,
    "swallowed": SWALLOWED,
    "passed": REWRITTEN.replace("OUTCOME", "passed"),
    "logged": LOGGED,
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


#: What plugins that repeat a test within its report do, in short; the model is right from its second try on.
REPEATED = """
import pytest
from pytest_puma.testing import ScriptedBackend

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when != "call" or not report.failed:
        return report
    item.session._setupstate.teardown_exact(None)
    item._initrequest()
    item.session._setupstate.setup(item)
    again = pytest.CallInfo.from_call(lambda: item.ihook.pytest_runtest_call(item=item), when="call")
    return pytest.TestReport.from_item_and_call(item, again)

tries = []

def pytest_puma_backend(model):
    tries.append(model)
    return ScriptedBackend({}, default="Major" if len(tries) > 1 else "I cannot say.")
"""


def test_the_verdict_of_a_repeated_test_is_that_of_its_last_try(project: Project) -> None:
    project.write(test_t=MISSED.replace("accuracy >= 1", "accuracy >= 0.2"), conftest=REPEATED)
    result = project.run("--puma-store=off")
    result.assert_outcomes(passed=1)
    (outcome,) = project.record()["outcomes"]
    assert (outcome["attempt"], outcome["measures"]["accuracy"]["value"]) == (2, 0.25)
