"""No outcome is lost, doubled or taken for another's: whatever ids, parameters, reruns and fixtures a project has."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.integration.conftest import SCRIPTED, TRIAGE, Project

#: Parameters that look like the end of a cell's id, and an ordinary test whose id looks like a cell's.
ALIKE = """
import pytest

@pytest.mark.parametrize("mail", ["plain", "some-user@example.org"])
@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=4)
def test_mail(puma, mail):
    pass

@pytest.mark.parametrize("param", ["c", "b-c"])
@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=4)
def test_ends(param, puma):
    pass

@pytest.mark.parametrize("cell", ["triage_jira-zero_shot@a", "other-zero_shot@a-b"])
def test_ordinary(cell):
    pass
"""

#: What plugins that run failed tests again do, in short.
RERUNS = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in (1, 2, 3):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        again = attempt < 3 and any(report.failed for report in reports)
        for report in reports:
            if report.failed and again:
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
        if not again:
            break
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""
LATER = """
import pytest

@pytest.fixture
def later(puma):
    {deed}

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8, gates=["accuracy >= {limit}"])
def test_triage(puma, later):
    {body}
"""


def test_every_outcome_arrives_whatever_the_ids_look_like(scripted: Project) -> None:
    scripted.write(test_alike=ALIKE)
    result = scripted.run(f"--puma-model=a={scripted.model}", f"--puma-model=a-b={scripted.model}", model=False)
    result.assert_outcomes(passed=10)
    assert result.ret == 0
    record = scripted.record()
    assert record["problems"] == []
    tests = [(outcome["node_id"].partition("::")[2], outcome["model"]) for outcome in record["outcomes"]]
    assert sorted(tests) == [
        ("test_ends[triage_jira-zero_shot@a-b-b-c]", "a-b"),
        ("test_ends[triage_jira-zero_shot@a-b-c]", "a"),
        ("test_ends[triage_jira-zero_shot@a-b-c]", "a-b"),
        ("test_ends[triage_jira-zero_shot@a-c]", "a"),
        *(
            (f"test_mail[triage_jira-zero_shot@{model}-{mail}]", model)
            for model in ("a-b", "a")
            for mail in ("plain", "some-user@example.org")
        ),
    ]
    lines = Counter((line["node_id"], line["cell"]) for line in scripted.predictions())
    assert set(lines.values()) == {4}
    assert len(lines) == 8


def test_each_run_of_a_test_marks_its_predictions(scripted: Project) -> None:
    fails_twice = """
import pytest

tries = []

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "one_shot"], samples=4)
def test_triage(puma):
    tries.append(puma.name.strategy)
    assert tries.count("zero_shot") != 1
"""
    scripted.write(conftest=SCRIPTED + RERUNS, test_triage=fails_twice)
    scripted.run("--junitxml=junit.xml", "--puma-report=junit-props")
    lines = Counter((line["node_id"].partition("[")[2], line["attempt"]) for line in scripted.predictions())
    assert lines == {
        ("triage_jira-zero_shot@tiny]", 1): 4,
        ("triage_jira-zero_shot@tiny]", 2): 4,
        ("triage_jira-one_shot@tiny]", 1): 4,
    }
    assert [outcome["attempt"] for outcome in scripted.record()["outcomes"]] == [2, 1]
    assert scripted.record()["problems"] == []
    text = (scripted.pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert text.count('name="puma.cell"') == 3, "once for each attempt"


def test_what_was_computed_survives_a_later_fixture(scripted: Project) -> None:
    scripted.write(test_triage=LATER.format(deed="raise OSError('no disk')", limit=0.2, body="pass"))
    result = scripted.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["triage_jira *", "* accuracy *PASS*"])
    assert len(scripted.predictions()) == 8


@pytest.mark.parametrize(
    ("deed", "body", "outcome"),
    [
        ("pass", "pytest.skip('not today')", {"failed": 1}),
        ("pass", "import unittest; raise unittest.SkipTest('not today')", {"failed": 1}),
        ("pytest.skip('not today')", "pass", {"errors": 1}),
    ],
)
def test_a_test_cannot_skip_a_missed_gate(alone: Project, deed: str, body: str, outcome: dict[str, int]) -> None:
    alone.write(test_triage=LATER.format(deed=deed, limit=0.9, body=body))
    result = alone.run()
    assert result.ret == 1
    result.assert_outcomes(**outcome)
    result.stdout.fnmatch_lines(["accuracy 0.25 * is under 0.9*"])

    alone.write(test_triage=LATER.format(deed=deed, limit=0.1, body=body))
    result = alone.run()
    assert result.ret == 0
    result.assert_outcomes(skipped=1)


def test_xfail_covers_a_missed_gate_of_a_test_that_skips(alone: Project) -> None:
    text = LATER.format(deed="pass", limit=0.9, body="pytest.skip('not today')")
    alone.write(test_triage=text.replace("@pytest.mark.puma", "@pytest.mark.xfail\n@pytest.mark.puma"))
    alone.run().assert_outcomes(xfailed=1)


def test_a_subtest_loses_no_outcome(alone: Project) -> None:
    body = """
    for number in range(2):
        with subtests.test(number=number):
            assert number == 0
"""
    alone.write(test_triage=TRIAGE.replace("(puma)", "(puma, subtests)").replace("    pass\n", body))
    result = alone.run()
    assert result.ret == 1
    assert alone.record()["problems"] == []
    assert len(alone.predictions()) == 8


UNITTEST = """
import unittest
import pytest

{module}
{outer}
class TestTriage(unittest.TestCase):
    {inner}
    def test_triage(self):
        pass
"""
MARK = '@pytest.mark.puma("triage_jira")'


@pytest.mark.parametrize(("outer", "inner"), [(MARK, ""), ("", MARK)], ids=["class", "method"])
def test_a_mark_on_a_unittest_method_is_a_collection_error(alone: Project, outer: str, inner: str) -> None:
    alone.write(test_triage=UNITTEST.format(module="", outer=outer, inner=inner))
    result = alone.run()
    assert result.ret == 2
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["puma: test_triage.py::TestTriage::test_triage: has the puma marker, but methods of unittest.TestCase *"]
    )


def test_a_unittest_class_beside_benchmarks_is_left_alone(alone: Project) -> None:
    alone.write(test_triage=UNITTEST.format(module="", outer="", inner=""), test_other=TRIAGE)
    alone.run().assert_outcomes(passed=2)
