"""A grid of variants that is killed, and goes on."""

from __future__ import annotations

import shutil
import signal
import sys

import pytest

from tests.integration.conftest import Project
from tests.integration.varying import write_files
from tests.tiny_controls import write_lora, write_vector

#: The fourth cell ends the controller and its own worker, once.
KILLED = """
import os
from pathlib import Path

def pytest_configure(config):
    if Path("kill").exists() and not hasattr(config, "workerinput"):
        Path("kill").write_text(str(os.getpid()))

def pytest_runtest_setup(item):
    if "q+loud-2-L1+" in item.name and Path("kill").exists():
        controller = int(Path("kill").read_text())
        Path("kill").unlink()
        os.kill(controller, 9)
        os.kill(os.getpid(), 9)
"""
ARGUMENT = "--puma-model=q.gguf,steer=loud.gguf:0/2@1,lora=a.gguf:0/1,strict=on,gpu_layers=0"


@pytest.mark.skipif(sys.platform == "win32", reason="ends processes by a signal")
@pytest.mark.parametrize("project", [2], ids=["two_workers"], indirect=True)
def test_a_killed_grid_resumes_to_the_answers_of_an_uninterrupted_one(project: Project) -> None:
    write_files(project).write(conftest=KILLED)
    folder = project.pytester.path
    write_vector(folder / "loud.gguf", size=0.5)
    write_lora(folder / "a.gguf")
    project.run(ARGUMENT, model=False).assert_outcomes(passed=4)
    uninterrupted = project.predictions()
    shutil.rmtree(folder / ".puma")
    (folder / "kill").touch()
    killed = project.pytester.runpytest_subprocess("-p", "xdist", "-n2", ARGUMENT, timeout=300)
    assert killed.ret == -signal.SIGKILL
    shutil.rmtree(folder / ".puma" / "runs")
    resumed = project.run(ARGUMENT, model=False)
    resumed.assert_outcomes(passed=4)
    resumed.stdout.re_match_lines([r"kept answers: all 24 of 3 cells.*"])
    assert [_answer(line) for line in project.predictions()] == [_answer(line) for line in uninterrupted]
    assert len({str(line["raw"]) for line in uninterrupted}) > 1


def _answer(line: dict[str, object]) -> list[object]:
    return [line[name] for name in ("cell", "sample_id", "raw", "answer")]
