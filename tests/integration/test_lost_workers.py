"""Workers of a cluster that are killed or frozen in the middle of a cell."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest

from tests.integration.conftest import INI

pytest.importorskip("distributed")
pytestmark = pytest.mark.usefixtures("cold")

BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["doubted"], samples=6, max_tokens=6)
def test_triage(puma):
    pass

@pytest.mark.puma("estimation_tawos", strategies=["zero_shot"], samples=2, max_tokens=6)
def test_points(puma):
    pass
"""
#: Asks twice; between both, the next signal in the file `shots` goes to all workers, SIGSTOP to the one that computes.
#: After SIGSTOP with the variable CTRL_C, Ctrl-C comes while pytest waits for the frozen worker.
DOUBTED = """
import os
import signal
import threading
from pathlib import Path
from pytest_puma import Answer, Strategy, ask

SHOTS, SHOOTERS = Path("shots"), []

def shoot():
    from distributed import default_client

    left = SHOTS.read_text().split()
    if left:
        SHOTS.write_text(" ".join(left[1:]))
        engines = default_client().run_on_scheduler(
            lambda dask_scheduler: {name: len(worker.actors) for name, worker in dask_scheduler.workers.items()}
        )
        for address, pid in default_client().run(os.getpid).items():
            if engines[address] or left[0] == "SIGKILL":
                os.kill(pid, getattr(signal, left[0]))
            Path(f"{pid}.pid").touch()
        if "CTRL_C" in os.environ:
            threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()

def doubted(task):
    first = yield from ask(task.generate(task.prompt()))
    if first.usage.prompt_tokens:  # no rehearsal
        SHOOTERS.append(task.sample.id)
    if SHOOTERS[:1] == [task.sample.id]:
        shoot()
    second = yield from ask(task.generate(task.prompt()))
    return Answer(value=task.read(second), responses=(first, second))

def pytest_puma_strategies():
    return [Strategy(name="doubted", converse=doubted, templates=("zero_shot",))]
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini(INI)
    pytester.makepyfile(test_all=BENCHMARK, conftest=DOUBTED)
    return pytester


def run(project: pytest.Pytester, model: Path, shots: str, *options: str) -> pytest.RunResult:
    (project.path / "shots").write_text(shots)
    return project.runpytest_subprocess(f"--puma-model={model}", "--puma-cluster=local:2", *options, timeout=200)


def test_a_killed_worker_costs_what_it_computed(project: pytest.Pytester, gguf: Path) -> None:
    result = run(project, gguf, "SIGKILL", "--puma-report=json:report.json")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines_random(
        [
            "warning: *the engine on the worker tcp://127.0.0.1:* is lost: *; the cell ran again",
            "warning: * of 12 answers kept from run *; the rest computed without them",
        ]
    )
    outcome, _ = json.loads((project.path / "report.json").read_text(encoding="utf-8"))["outcomes"]
    assert outcome["kept"]["responses"] == 12


def test_the_second_loss_is_an_error_of_the_cell(project: pytest.Pytester, gguf: Path) -> None:
    result = run(project, gguf, "SIGKILL SIGKILL")
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines(["*the engine on the worker tcp://127.0.0.1:* (*) is lost: its process ended, or*"])
    result.stdout.no_fnmatch_line("*the cell ran again*")
    run(project, gguf, "").assert_outcomes(passed=2)


def test_a_frozen_worker_costs_its_step_limit(project: pytest.Pytester, gguf: Path) -> None:
    result = run(project, gguf, "SIGSTOP", "-o", "puma_step_seconds=15")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["warning: *is lost: a step took more than 15 s (ini key puma_step_seconds)*"])


def test_ctrl_c_ends_the_run_and_the_local_cluster(
    project: pytest.Pytester, gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTRL_C", "1")
    assert run(project, gguf, "SIGSTOP").ret == pytest.ExitCode.INTERRUPTED
    workers = [int(file.stem) for file in project.path.glob("*.pid")]
    assert len(workers) == 2
    assert not any(map(psutil.pid_exists, workers))
    monkeypatch.delenv("CTRL_C")
    result = run(project, gguf, "")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["warning: * answers kept from run *; the rest computed without them"])
