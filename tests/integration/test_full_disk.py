"""A full disk, or a run folder that somebody removes, costs what cannot be written, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.disk import OBEDIENT, small_disk
from tests.integration.conftest import SCRIPTED, TRIAGE, Project

#: No file of the process that writes can have more than 100 kB: those of the second of three cells are too large.
LIMITED = (
    SCRIPTED
    + """
import resource

def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
"""
)
THREE = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "few_shot_3"], samples=8)
def test_few(puma):
    pass

@pytest.mark.puma("triage_jira", strategies=["rcoif"], samples=100)
def test_many(puma):
    pass
"""
REMOVED = """
import pathlib
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "few_shot_3", "rcoif"], samples=8)
def test_triage(puma):
    if puma.name.strategy == "few_shot_3":
        # At once: the other process writes into it meanwhile.
        pathlib.Path({root!r}, ".puma").rename(pathlib.Path({root!r}, "removed"))
"""


def command_of(project: Project, *options: str) -> list[str]:
    """pytest in a process of its own, as `Project.run` starts it."""
    workers = ["-p", "xdist", "-n", str(project.workers)] if project.workers else ["-p", "no:xdist"]
    return [sys.executable, "-m", "pytest", *workers, f"--puma-model={project.model}", *options]


def run(project: Project, *options: str) -> subprocess.CompletedProcess[str]:
    command = command_of(project, *options)
    result = subprocess.run(command, cwd=project.pytester.path, capture_output=True, check=False, text=True)  # noqa: S603
    assert "INTERNALERROR" not in result.stdout + result.stderr
    return result


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]


def names_of(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_cell_that_does_not_fit_is_a_problem_of_the_run_and_the_others_are_kept(project: Project) -> None:
    project.write(conftest=LIMITED, test_triage=THREE)
    result = run(project, "--puma-report=json:out.json")
    assert result.returncode == 1
    problem = "the predictions of triage_jira-rcoif@tiny cannot be written: [Errno 27] File too large"
    assert f"FAILED puma::run - puma: {problem}" in result.stdout
    assert "3 passed" in result.stdout
    assert names_of(project.folder) == {"predictions.jsonl", "run.json"}
    assert project.record()["problems"] == [problem]
    assert len(project.cell_ids()) == 3
    kept = [line["cell"] for line in lines_of(project.folder) if line["kind"] == "cell"]
    assert sorted(kept) == ["triage_jira-few_shot_3@tiny", "triage_jira-zero_shot@tiny"]
    assert len(lines_of(project.folder)) == 18


def test_a_full_disk_behind_the_run_folder_leaves_nothing_in_half(project: Project) -> None:
    project.write(conftest=SCRIPTED, test_triage=THREE)
    with small_disk(project.pytester.path / ".puma", 64):
        result = run(project, "--puma-report=json:out.json")
        assert result.returncode == 1
        assert "3 passed" in result.stdout
        assert "the predictions of triage_jira-rcoif@tiny cannot be written: [Errno 28] No space left" in result.stdout
        assert names_of(project.folder) <= {"predictions.jsonl", "run.json"}
        lines = lines_of(project.folder)
    cells = [line for line in lines if line["kind"] == "cell"]
    assert len(lines) == len(cells) + sum(line["predictions"] for line in cells)
    (problem, *_) = json.loads((project.pytester.path / "out.json").read_text(encoding="utf-8"))["problems"]
    assert problem.startswith("the predictions of triage_jira-rcoif@tiny cannot be written")


def test_a_run_folder_that_is_removed_meanwhile_is_a_problem_of_the_run(project: Project) -> None:
    project.write(conftest=SCRIPTED, test_triage=REMOVED.format(root=str(project.pytester.path)))
    result = run(project)
    assert result.returncode == 1
    assert "3 passed" in result.stdout
    assert "predictions.jsonl: another program removed cells of this run while it went on; run again" in result.stdout
    assert len(project.cell_ids()) == 3
    assert {line["cell"] for line in lines_of(project.folder)} < set(project.cell_ids())


def test_a_folder_that_is_protected_keeps_nothing_and_fails_nothing(project: Project) -> None:
    project.write(conftest=SCRIPTED + OBEDIENT, test_triage=TRIAGE)
    folder = project.pytester.path / ".puma"
    folder.mkdir(mode=0o500)
    result = run(project, "-p", "no:cacheprovider")
    assert result.returncode == 0, result.stdout
    assert f"puma: the folder {folder} is not writable: the run keeps nothing" in result.stdout
    assert list(folder.iterdir()) == []


def test_a_baseline_on_a_full_disk_is_the_old_one(one: Project) -> None:
    """Both files of a baseline belong together: none of them may be new alone."""
    folder = one.pytester.path / "benchmarks" / "baselines"
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    one.write(conftest=LIMITED.replace("100_000", "3_000"))
    result = run(one, "benchmarks", "--puma-update-baseline", "--puma-samples=100", "-p", "no:cacheprovider")
    assert result.returncode == 1
    assert "a baseline cannot be written: [Errno 27] File too large" in result.stdout
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


def test_a_plan_says_what_it_cannot_read(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    (alone.pytester.path / ".puma" / "throughput.json").mkdir(parents=True)
    result = alone.run("--puma-plan")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: puma: *Is a directory: *throughput.json*"])


@pytest.mark.parametrize("content", ["[1]", '{"tiny.gguf:1": 3}', '{"a": {"prefill": 1}}', "{", "\0" * 9])
def test_a_damaged_throughput_is_measured_again(alone: Project, content: str) -> None:
    alone.write(test_triage=TRIAGE)
    folder = alone.pytester.mkdir(".puma")
    (folder / "throughput.json").write_text(content, encoding="utf-8")
    assert alone.run("--puma-plan").ret == 0
    assert alone.run().ret == 0
