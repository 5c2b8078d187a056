"""Gates about several cells, as tests that nobody wrote: JUnit, exit status, with and without workers."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tests.integration.conftest import Project


def two_strategies(*gates: str) -> str:
    return f"""
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "one_shot"], samples=8, gates={list(gates)!r})
def test_triage(puma):
    pass
"""


def test_each_is_a_test_of_its_own(scripted: Project) -> None:
    scripted.write(
        test_triage=two_strategies("max(f1_macro over strategy) >= 0.9", "One-Shot.accuracy >= zero_shot.accuracy")
    )
    result = scripted.run("--junitxml=junit.xml", "-rA")
    assert result.ret == 1
    # No more tests passed than there are; the terminal tells of verdicts in its own lines.
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.no_fnmatch_line("*[[]150%*")
    best = "puma::max(f1_macro over strategy) >= 0.9 (triage_jira@tiny)"
    result.stdout.fnmatch_lines(
        [
            "triage_jira@tiny: max of 2, zero_shot: f1_macro 0.1 * n=8 is under 0.9; corrected for choosing *",
            "pass: triage_jira@tiny: *",
            f"FAILED {best}*",
        ]
    )
    junit = ET.parse(scripted.pytester.path / "junit.xml").getroot()  # noqa: S314 - written by pytest
    failed = [case.attrib["name"] for case in junit.iter("testcase") if case.find("failure") is not None]
    assert failed == [best.removeprefix("puma::")]
    assert junit.find(".//testcase[@name='one_shot.accuracy >= zero_shot.accuracy (triage_jira@tiny)']") is not None
    record = scripted.record()
    assert [verdict["status"] for verdict in record["verdicts"]] == ["FAIL", "PASS"]
    assert record["verdicts"][1]["change"]["value"] == 0
    assert "replicates" not in record["outcomes"][0]


def test_a_general_one_holds_for_all_that_it_fits(alone: Project) -> None:
    alone.write(test_triage=two_strategies(), test_other=two_strategies().replace("triage_jira", "prioritization_jira"))
    result = alone.run("--puma-gate=triage*: min(accuracy over strategy) >= 0.2")
    assert result.ret == 0
    result.assert_outcomes(passed=4)


def test_a_strategy_that_the_selection_excludes_is_named(alone: Project) -> None:
    alone.write(test_triage=two_strategies("one_shot.accuracy >= zero_shot.accuracy"))
    result = alone.run("-k", "zero_shot")
    assert result.ret == 0
    lines = "triage_jira@tiny: one_shot.accuracy >= zero_shot.accuracy was not judged: no cell of one_shot ran"
    result.stdout.fnmatch_lines([f"not run: {lines}"])


@pytest.mark.parametrize(
    ("gate", "problem"),
    [
        ("one_sot.accuracy >= zero_shot.accuracy", "strategy 'one_sot' is unknown; did you mean 'one_shot'*"),
        ("max(mae over strategy) <= 3", "gate 'max(mae over strategy) <= 3': triage_jira has no metric 'mae'*"),
        ("rcoif.accuracy >= egi.accuracy", "gate 'rcoif.accuracy >= egi.accuracy' fits none of its cells*"),
    ],
)
def test_what_makes_no_sense_is_a_collection_error(alone: Project, gate: str, problem: str) -> None:
    alone.write(test_triage=two_strategies(gate))
    result = alone.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines([f"*{problem}"])


def test_a_run_that_was_cut_off_judges_none(alone: Project) -> None:
    alone.write(test_triage=two_strategies("max(f1_macro over strategy) >= 0.9", "accuracy >= 0.9"))
    alone.run("-x").assert_outcomes(failed=1)


SUITE = """
import pytest

suite = ["mean(accuracy over scenario) >= 0.9"]

@pytest.mark.puma("knowledge_mini", strategies=["zero_shot"], samples=6, gates=suite)
def test_knowledge(puma):
    pass

@pytest.mark.puma("commonsense_mini", strategies=["option_scoring"], samples=6, gates=suite)
def test_common_sense(puma):
    pass
"""


def test_a_suite_is_the_tests_with_the_same_gate(scripted: Project) -> None:
    scripted.write(test_suite=SUITE, test_triage=two_strategies())
    result = scripted.run()
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(
        [
            "@tiny: mean of 2 scenarios (*knowledge_mini *): accuracy 0 [[]0, *] n=12 is under 0.9",
            "FAILED puma::mean(accuracy over scenario) >= 0.9 (@tiny)*",
        ]
    )
