"""Baseline entries that a run adds, compares, keeps and removes."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.integration.conftest import GATED, SCRIPTED, Project, baseline_files


def test_a_partial_run_leaves_the_rest_of_the_baseline(one: Project) -> None:
    before = json.loads(baseline_files(one)["triage_jira.json"])["cells"]
    one.run("benchmarks", "--puma-update-baseline", "--puma-samples=10", "-k", "zero_shot", model=False)
    after = json.loads(baseline_files(one)["triage_jira.json"])["cells"]
    assert after["triage_jira-option_scoring@puma-tiny"] == before["triage_jira-option_scoring@puma-tiny"]
    assert after["triage_jira-zero_shot@puma-tiny"]["signature"]["samples"] == 10


def test_a_renamed_test_does_not_slip_through(one: Project) -> None:
    tests = one.pytester.path / "benchmarks" / "test_triage.py"
    tests.write_text(GATED.replace(', "option_scoring"', ', "one_shot"'), encoding="utf-8")
    gone = one.run("benchmarks", model=False)
    assert gone.ret == 1
    lost = "benchmarks/test_triage.py::test_triage no longer runs it"
    gone.stdout.fnmatch_lines(
        [
            "puma: 1 of 2 cells have no baseline: triage_jira-one_shot@puma-tiny; --puma-update-baseline makes one",
            f"*triage_jira-option_scoring@puma-tiny has a baseline, but {lost}; restore its name, or *",
            "no baseline: triage_jira-one_shot@puma-tiny: there is no baseline yet; --puma-update-baseline makes one",
        ]
    )
    assert one.run("benchmarks/test_triage.py", model=False).ret == 0, "a part of the tests says nothing of the others"

    updated = one.run("benchmarks", "--puma-update-baseline", model=False)
    assert updated.ret == 0, "what is measured is accepted"
    orphan = "no test runs triage_jira-option_scoring@puma-tiny any more; --puma-prune-baseline removes it"
    updated.stdout.fnmatch_lines([f"baseline: {orphan}"])
    pruned = one.run("benchmarks", "--puma-prune-baseline", "--puma-update-baseline", model=False)
    pruned.stdout.fnmatch_lines(["baseline: benchmarks/baselines/triage_jira.json: 2 unchanged, 1 removed"])
    assert one.run("benchmarks", model=False).ret == 0


def test_a_test_file_that_is_deleted_does_not_slip_through_either(one: Project) -> None:
    tests = one.pytester.path / "benchmarks" / "test_triage.py"
    tests.write_text(GATED.replace("triage_jira", "estimation_tawos").replace("accuracy", "mae"), encoding="utf-8")
    tests.rename(tests.with_name("test_points.py"))
    gone = one.run("benchmarks", model=False)
    assert gone.ret == 1
    gone.stdout.fnmatch_lines(["*triage_jira-zero_shot@puma-tiny has a baseline, but benchmarks/test_triage.py::*"])


#: A word to pytest.
TOLD = "config.hook.pytest_deselected(items=gone)"
#: Deals the tests out to two jobs, as plugins do, with a word or without.
DEALT = """
def pytest_collection_modifyitems(config, items):
    gone = [item for item in items if "zero_shot" in item.nodeid]
    {told}
    items[:] = [item for item in items if item not in gone]
"""


def test_a_test_that_this_run_did_not_see_is_not_taken_for_gone(scripted: Project) -> None:
    team, few = scripted, GATED.replace("samples=50", "samples=8")
    folder = team.pytester.mkdir("benchmarks")
    tests, other = folder / "test_triage.py", folder / "test_points.py"
    tests.write_text(few, encoding="utf-8")
    other.write_text(few.replace("triage_jira", "estimation_tawos").replace("accuracy", "mae"), encoding="utf-8")
    replace(team, workers=0).run("benchmarks", "--puma-update-baseline", model=False).assert_outcomes(passed=4)
    before = baseline_files(team)

    def unseen(*arguments: str, passed: int, ret: int = 0, **shown: int) -> None:
        result = team.run("benchmarks", "--puma-prune-baseline", *arguments, model=False)
        assert "no longer" not in result.stdout.str()
        result.assert_outcomes(passed=passed, **shown)
        assert result.ret == ret
        assert baseline_files(team) == before

    gate = "--puma-gate=triage_jira-zero_shot: accuracy >= 0.01"
    # Workers tell nobody what they deselected, with a word or without.
    for parts in (TOLD,) if team.workers else ("", TOLD):
        team.write(conftest=SCRIPTED + DEALT.format(told=parts))
        # A gate for a cell of the other job is no mistake.
        unseen(gate, passed=2, deselected=2 if parts and not team.workers else 0)
    team.write(conftest=SCRIPTED)
    if not team.workers:
        unseen("--ignore=benchmarks/test_triage.py", gate, passed=2)
    tests.write_text("import pytest\npytest.importorskip('no_such_module')\n" + few, encoding="utf-8")
    unseen(passed=2, skipped=1)
    tests.write_text("import no_such_module\n" + few, encoding="utf-8")
    unseen("--continue-on-collection-errors", passed=2, errors=1, ret=1)


def test_another_model_has_no_baseline_and_takes_none_away(team: Project) -> None:
    result = team.run("benchmarks", "--puma-model=other=puma-tiny", model=False)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["no baseline: triage_jira-zero_shot@other and 1 more: *for 'other'; *there are baselines for puma-tiny: *"]
    )


def test_pruning_needs_all_tests(alone: Project) -> None:
    alone.write(test_triage=GATED)
    result = alone.run("--puma-prune-baseline", "-k", "zero_shot")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--puma-prune-baseline: found a selection of tests; expected all tests*"])


def test_two_runs_at_once_lose_no_entry(alone: Project) -> None:
    """The second one reads its baselines before the first one writes, and writes after it."""
    alone.write(
        test_triage="""
            import subprocess
            import sys
            import pytest

            @pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8, gates=["accuracy >= baseline"])
            def test_triage(puma, request):
                if puma.name.model == "one":
                    model = request.config.option.puma_model[0].replace("one=", "two=")
                    run = [sys.executable, "-m", "pytest", "--puma-update-baseline", "--puma-model", model]
                    subprocess.run(run, check=True)
        """
    )
    result = alone.run("--puma-update-baseline", f"--puma-model=one={alone.model}", model=False)
    result.stdout.fnmatch_lines(["baseline: benchmarks/baselines/triage_jira.json: 1 new, 1 unchanged"])
    (path,) = (alone.pytester.path / "benchmarks" / "baselines").glob("*.json")
    assert sorted(json.loads(path.read_text(encoding="utf-8"))["cells"]) == [
        "triage_jira-zero_shot@one",
        "triage_jira-zero_shot@two",
    ]
