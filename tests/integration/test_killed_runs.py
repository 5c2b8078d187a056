"""Runs that were killed, and tests that a time limit or a plugin for reruns ends."""

from __future__ import annotations

import pytest

from tests.integration.conftest import INI, SCRIPTED, Project
from tests.integration.test_interrupts import CELLS, interrupted

#: Each batch of a cell whose id contains SLOW does this.
DEED = """
import os
import time
from pathlib import Path
import pytest
from pytest_puma.testing import ScriptedBackend

slow = []

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    slow[:] = [True] if "one_shot@" in item.name else []

class Slow(ScriptedBackend):
    def decode(self, steps):
        if slow:
            {deed}
        return super().decode(steps)

def pytest_puma_backend(model):
    return Slow(lambda prompt: "It is broken.\\nAnswer: Major" if "Answer:" in prompt else "Major", parallel=4)
"""
KILLS_ITSELF = "os.kill(os.getpid(), 9)"


def run(project: Project, deed: str, *arguments: str) -> pytest.RunResult:
    project.write(conftest=DEED.format(deed=deed), test_cells=CELLS)
    return project.pytester.runpytest_subprocess(f"--puma-model={project.model}", *arguments, timeout=300)


def kill(project: Project) -> None:
    """A run that is killed after two of three cells; the next one is not."""
    interrupted(project, "between cells", signal="SIGKILL")
    project.write(conftest=SCRIPTED)
    project.pytester.makeini(INI)


def strategies(project: Project) -> list[str]:
    """The strategies of the cells with an outcome; their predictions are in the run folder, once."""
    cells = project.cell_ids()
    assert [line["cell"] for line in project.predictions()] == sorted(cells * 8)
    return [cell.partition("@")[0].removeprefix("triage_jira-") for cell in cells]


def test_the_complete_cells_of_a_killed_run_can_be_rescored(alone: Project) -> None:
    kill(alone)
    folder = alone.folder
    assert not (folder / "run.json").exists()
    rescored = alone.run("--puma-rescore=last", model=False)
    rescored.assert_outcomes(passed=2)
    rescored.stdout.fnmatch_lines([f"puma: rescored from the run {folder.name}: 2 of its 2 cells; no model is loaded"])


def test_a_cell_that_was_being_written_is_left_out_and_reported(alone: Project) -> None:
    kill(alone)
    file = alone.folder / "predictions.jsonl"
    file.write_bytes(file.read_bytes()[:-200])
    rescored = alone.run("--puma-rescore=last", model=False)
    rescored.assert_outcomes(passed=1)
    rescored.stdout.fnmatch_lines(
        ["*: 1 of its 1 cells; no model *", "puma: triage_jira-one_shot@tiny is cut off after *"]
    )


def test_flips_of_a_killed_run_are_those_of_no_run(alone: Project) -> None:
    kill(alone)
    result = alone.run("--puma-only-flips")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: puma: --puma-only-flips: found no run in *; run with a baseline and *"])


@pytest.mark.parametrize("workers", [(), ("-n1",)], ids=["alone", "worker"])
def test_a_time_limit_by_signal_fails_its_cell_and_the_engine_goes_on(alone: Project, workers: tuple[str]) -> None:
    pytest.importorskip("pytest_timeout")
    result = run(alone, "time.sleep(60)", "--timeout=3", "--timeout-method=signal", *workers)
    result.assert_outcomes(passed=2, errors=1)
    assert strategies(alone) == ["zero_shot", "egi"]
    assert [fault["when"] for fault in alone.record()["faults"]] == ["setup"]


def test_a_time_limit_by_thread_ends_a_worker_and_its_cell(alone: Project) -> None:
    pytest.importorskip("pytest_timeout")
    result = run(alone, "time.sleep(60)", "--timeout=3", "--timeout-method=thread", "-n1")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["worker 'gw0' crashed while running '*one_shot@tiny?' (exit status 1)"])
    assert strategies(alone) == ["zero_shot", "egi"]


@pytest.mark.parametrize(
    ("deed", "dist", "outcomes"),
    [
        (KILLS_ITSELF, (), {"passed": 2, "failed": 1}),
        (KILLS_ITSELF, ("--dist=load",), {"passed": 2, "failed": 1, "rerun": 2}),
        (
            f"Path('once').exists() or (Path('once').touch(), {KILLS_ITSELF})",
            ("--dist=load",),
            {"passed": 3, "rerun": 1},
        ),
    ],
    ids=["ours", "each_time", "once"],
)
def test_reruns_after_a_crash_count_no_cell_twice(
    alone: Project, deed: str, dist: tuple[str], outcomes: dict[str, int]
) -> None:
    pytest.importorskip("pytest_rerunfailures")
    result = run(alone, deed, "-n1", "--reruns=2", *dist)
    assert result.parseoutcomes() == outcomes
    assert strategies(alone) == (["zero_shot", "one_shot", "egi"] if outcomes["passed"] == 3 else ["zero_shot", "egi"])
    assert len(alone.record()["faults"]) == outcomes.get("failed", 0)
