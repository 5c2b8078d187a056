"""`--puma-determinism K`: how many answers change when they are asked alone."""

from __future__ import annotations

import pytest

from tests.integration.conftest import ONE_PROCESS, TRIAGE, Project
from tests.integration.varying import run_grid, write_files

EVERY_KIND = """
import pytest

@pytest.mark.puma(
    "triage_jira", samples=8, max_tokens=24,
    strategies=["zero_shot", "option_scoring", "self_consistency_3", "egi"],
)
def test_triage(puma):
    pass
"""


@ONE_PROCESS
def test_flips_are_counted_with_their_logit_gaps(project: Project) -> None:
    project.write(test_triage=EVERY_KIND)
    result = project.run("--puma-determinism=6", "--puma-threads=1")
    result.assert_outcomes(passed=4)
    checks = {each["strategy"]: each["determinism"] for each in project.record()["outcomes"]}
    assert {each["samples"] for each in checks.values()} == {6}
    # Random weights tie all the time; what is tipped is nearly level. With a context mixed up, gaps would exceed 1.
    assert all(len(each["gaps"]) <= each["texts"] <= 6 for each in checks.values())
    assert all(gap < 0.1 for each in checks.values() for gap in each["gaps"])
    zero_shot = checks["zero_shot"]
    assert len(zero_shot["gaps"]) == zero_shot["texts"]
    changed = f"{zero_shot['texts']} of 6 texts and {zero_shot['answers']} of 6 answers change when run alone"
    result.stdout.fnmatch_lines([f"determinism: triage_jira-zero_shot@tiny: {changed}*"])


@ONE_PROCESS
def test_strict_answers_never_change(project: Project) -> None:
    project.write(test_triage=EVERY_KIND)
    project.run("--puma-determinism=8", "--puma-strict").assert_outcomes(passed=4)
    checks = [each["determinism"] for each in project.record()["outcomes"]]
    assert [(each["texts"], each["answers"]) for each in checks] == [(0, 0)] * 4


@ONE_PROCESS
def test_variants_are_computed_again_as_variants(project: Project) -> None:
    result = run_grid(write_files(project), "--puma-determinism=8", "--puma-strict")
    result.assert_outcomes(passed=3)
    checks = {each["model"]: each["determinism"] for each in project.record()["outcomes"]}
    assert list(checks) == ["q", "q+loud-1", "q+loud-2"]
    assert [(check["samples"], check["texts"]) for check in checks.values()] == [(8, 0)] * 3


def test_nothing_is_asked_twice_unless_it_is_asked_for(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    assert "determinism:" not in alone.run().stdout.str()
    assert [each["determinism"] for each in alone.record()["outcomes"]] == [None]


def test_a_number_below_one_is_refused(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-determinism=0")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--puma-determinism is 0; expected*"])
