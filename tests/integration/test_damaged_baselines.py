"""Baselines that cannot be read."""

from __future__ import annotations

import pytest

from tests.integration.conftest import GATED, Project, baseline_files


def test_a_damaged_baseline_is_a_collection_error_and_is_left_alone(one: Project) -> None:
    path = one.pytester.path / "benchmarks" / "baselines" / "triage_jira.answers.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("Major", "Minor", 1), encoding="utf-8")
    before = baseline_files(one)
    for option in ("--puma-samples=50", "--puma-update-baseline"):
        result = one.run("benchmarks", option, model=False)
        assert result.ret == 2
        result.stdout.fnmatch_lines(["*baselines/triage_jira.json: the answers of * are not those that its measures*"])
    assert baseline_files(one) == before


@pytest.mark.parametrize(
    ("missing", "problem"),
    [
        ("triage_jira.json", "no such file beside triage_jira.answers.jsonl"),
        ("triage_jira.answers.jsonl", "no file triage_jira.answers.jsonl beside it"),
    ],
)
def test_half_of_a_baseline_is_a_collection_error(one: Project, missing: str, problem: str) -> None:
    folder = one.pytester.path / "benchmarks" / "baselines"
    (folder / missing).unlink()
    before = baseline_files(one)
    for option in ("--puma-samples=50", "--puma-update-baseline"):
        result = one.run("benchmarks", option, model=False)
        assert result.ret == 2
        result.stdout.fnmatch_lines([f"*baselines/triage_jira.json: {problem}; restore both files from *"])
    assert baseline_files(one) == before

    (folder / next(iter(before))).unlink()
    one.run("benchmarks", "--puma-update-baseline", model=False).assert_outcomes(passed=2)
    assert sorted(baseline_files(one)) == ["triage_jira.answers.jsonl", "triage_jira.json"]


def test_a_damaged_baseline_that_no_gate_needs_fails_the_run(one: Project) -> None:
    tests = one.pytester.path / "benchmarks" / "test_triage.py"
    tests.write_text(GATED.replace("baseline - 0.02", "0.2"), encoding="utf-8")
    (one.pytester.path / "benchmarks" / "baselines" / "triage_jira.json").write_text("{", encoding="utf-8")
    result = one.run("benchmarks", model=False)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*puma: baseline *triage_jira.json: it cannot be read (JSONDecodeError*"])
