"""A newcomer without a model: the bundled one answers, and a line names it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.conftest import INI, ONE_PROCESS, TRIAGE, Project

REPOSITORY = Path(__file__).parents[2]
NOTE = "puma: on the bundled demonstration model puma-tiny; name your own by --puma-model FILE.gguf"
#: An issue without its text; the examples of few-shot prompts lose theirs as well.
BROKEN = "<issue>\nTitle: {{ issue_key[:1] }}\n</issue>\n"


@pytest.fixture
def benchmarks(pytester: pytest.Pytester) -> Path:
    """The project's own benchmarks, copied into an empty folder."""
    pytester.makeini(INI + "addopts = -p no:xdist\n")
    shutil.copytree(REPOSITORY / "benchmarks", pytester.path / "benchmarks")
    return pytester.path


def test_without_a_model_the_bundled_one_runs_and_one_line_says_so(project: Project) -> None:
    project.write(test_triage=TRIAGE)
    result = project.run(model=False)
    result.assert_outcomes(passed=1)
    assert result.outlines.count(NOTE) == 1
    assert sum(line.startswith("puma: computed on the ") for line in result.outlines) == 1
    assert [outcome["model"] for outcome in project.record()["outcomes"]] == ["puma-tiny"]


@ONE_PROCESS
def test_a_quiet_run_says_so_too(project: Project) -> None:
    project.write(test_triage=TRIAGE)
    assert project.run("-q", model=False).outlines.count(NOTE) == 1


@ONE_PROCESS
def test_it_goes_by_its_name_like_any_other(project: Project) -> None:
    project.write(test_triage=TRIAGE)
    result = project.run("--puma-model=puma-tiny", "--puma-model=again=puma-tiny", model=False)
    result.assert_outcomes(passed=2)
    assert NOTE not in result.outlines


@ONE_PROCESS
def test_a_model_in_the_ini_file_comes_first(project: Project) -> None:
    project.pytester.makeini(f"[pytest]\npuma_models = mine={project.model}")
    project.write(test_triage=TRIAGE)
    result = project.run(model=False)
    result.assert_outcomes(passed=1)
    assert NOTE not in result.outlines


@ONE_PROCESS
def test_the_error_for_an_unknown_name_mentions_the_bundled_model(project: Project) -> None:
    result = project.run("--puma-model=puma-tny", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no such file in *the package (1 GGUF file there: puma-tiny.gguf)*"])


@ONE_PROCESS
def test_tests_of_other_kinds_hear_nothing_of_it(project: Project) -> None:
    project.write(test_other="def test_other(): pass")
    result = project.run(model=False)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*puma:*")


def test_the_gates_of_the_benchmarks_hold_on_it(pytester: pytest.Pytester, benchmarks: Path) -> None:
    # .ci/run runs all of them, of 50 samples each.
    result = pytester.runpytest_subprocess(str(benchmarks / "benchmarks" / "test_triage_jira.py"), "--puma-samples=16")
    result.assert_outcomes(passed=4)


def test_a_broken_template_misses_the_gates(pytester: pytest.Pytester, benchmarks: Path) -> None:
    shutil.copytree(REPOSITORY / "prompts", benchmarks / "prompts")
    (benchmarks / "prompts" / "triage_jira" / "_issue.jinja").write_text(BROKEN, encoding="utf-8")
    result = pytester.runpytest_subprocess(str(benchmarks / "benchmarks" / "test_triage_jira.py"), "--puma-samples=16")
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["f1_macro * is under *"])
