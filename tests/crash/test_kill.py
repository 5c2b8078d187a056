"""Runs that are killed at any moment, again and again, until one comes to its end: what strategies heard is kept."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from itertools import count, islice
from pathlib import Path
from typing import TypeAlias

import psutil
import pytest

from tests.crash.amount import part
from tests.crash.child import content_of
from tests.crash.conftest import made
from tests.crash.project import PATIENCE, CrashProject, kill, running

CELLS = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8, perturb=["none", "case_upper"])
def test_perturbed(puma):
    pass

@pytest.mark.puma("triage_jira", strategies=["egi", "self_consistency", "option_scoring"], samples=5)
def test_strategies(puma):
    pass

@pytest.mark.puma("triage_jira", strategies=["rcoif"], samples=50, gates=["accuracy <= 0.95"])
def test_stopped_early(puma):
    pass
"""
#: Milliseconds of the slowest step.
PACE = 25
#: Kills before a run may come to its end.
KILLS = 5
ALONE = ("-p", "no:xdist", "--puma-stop-early", "--puma-model=one.gguf")
WORKERS = ("-n2", "--puma-stop-early", "--puma-model=one.gguf", "--puma-model=two.gguf")


Record: TypeAlias = Callable[[str, object], None]
Killing: TypeAlias = Callable[["subprocess.Popen[str]"], "set[int]"]


def test_killed_runs_lose_nothing(tmp_path: Path, gguf: Path, record_testsuite_property: Record) -> None:
    story = Story(tmp_path, gguf, ALONE, [everything])
    story.tell(part(70))
    record_testsuite_property("figures", story.figures)


def test_killed_workers_lose_nothing(tmp_path: Path, gguf: Path, record_testsuite_property: Record) -> None:
    """Every second time only one worker, as by a kernel that is short of memory: the others go on."""
    pytest.importorskip("xdist")
    story = Story(tmp_path, gguf, WORKERS, [everything, one_worker])
    story.tell(part(30))
    record_testsuite_property("figures", story.figures)


def everything(process: subprocess.Popen[str]) -> set[int]:
    """Kill a run with its workers; return their ids."""
    with_workers = {process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))}
    kill(process)
    return with_workers


def one_worker(process: subprocess.Popen[str]) -> set[int]:
    """Kill a worker, and wait for the end of the run; return its id."""
    below = psutil.Process(process.pid).children(recursive=True)
    # Between the run and a warm worker are processes that start it and wait for it.
    workers = [each.pid for each in below if not each.children()]
    victim = random.choice(workers)  # noqa: S311 - no secret
    os.kill(victim, signal.SIGKILL)
    output, _ = process.communicate(timeout=PATIENCE)
    assert "INTERNALERROR" not in output, output
    return {victim}


class Story:
    """Projects, each with some killed runs and one that comes to its end."""

    def __init__(self, folder: Path, gguf: Path, arguments: tuple[str, ...], killings: Sequence[Killing]) -> None:
        self._arguments, self._killings = arguments, killings
        #: Killed runs, responses that strategies received, and those that were computed a second time.
        self.figures = {"killed": 0, "received": 0, "again": 0}
        self._projects = (self._project(folder / f"{number}", gguf) for number in count())
        self._numbers = count()
        whole = next(self._projects)
        with running(whole.start(*arguments, pace=PACE)) as process:
            opened(whole, process, 0)
            begin = time.monotonic()
            output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, output
        self._seconds = time.monotonic() - begin
        self._result = whole.result()
        self._needed = set(whole.computed())

    @staticmethod
    def _project(folder: Path, gguf: Path) -> CrashProject:
        project = made(folder, gguf)
        project.write("test_cells.py", CELLS)
        return project

    def tell(self, kills: int) -> None:
        """Kill this number of runs."""
        while (left := kills - self.figures["killed"]) > 0:
            self._tell(next(self._projects), min(left, KILLS))

    def _tell(self, project: CrashProject, kills: int) -> None:
        """Kill this number of runs of a project, fewer if one ends too soon, and let one come to its end."""
        killed: set[int] = set()
        for number in islice(self._numbers, kills):
            chance = random.Random(number)  # noqa: S311 - no secret
            left = 1 - len(project.computed()) / len(self._needed)
            before = len(project.notes("opened"))
            with running(project.start(*self._arguments, pace=PACE)) as process:
                opened(project, process, before)
                time.sleep(chance.uniform(0, self._seconds * left))
                if process.poll() is not None:
                    break
                killed |= self._killings[number % len(self._killings)](process)
                self.figures["killed"] += 1
            check(project, killed)
        kept = project.rows() if project.store.exists() else []
        last = project.run(*self._arguments, pace=PACE)
        assert last.code == 0, last.output
        check(project, killed)
        assert project.result() == self._result
        assert set(project.computed()) == self._needed
        assert len({(row.model, row.cell, row.request) for row in project.rows()}) == len(self._needed)
        assert kept_of_last(project) == len(kept)
        self.figures["received"] += len(project.notes("witness"))
        self.figures["again"] += project.computed().total() - len(self._needed)


def opened(project: CrashProject, process: subprocess.Popen[str], before: int) -> None:
    """Wait until a model of this run is loaded: nothing is written before that."""
    deadline = time.monotonic() + PATIENCE
    while len(project.notes("opened")) == before and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def check(project: CrashProject, killed: set[int]) -> None:
    """Everything that a strategy heard is in the store; only the last steps of killed processes were computed again."""
    kept = {
        (f"{row.cell}@{row.model}".replace("@@", "@"), row.request, content_of(row.response)) for row in project.rows()
    }
    lost = project.witnessed() - kept
    assert not lost, f"{len(lost)} of {len(project.witnessed())} responses are lost: {sorted(lost)[:3]}"
    assert project.is_sound()
    last_steps = {int(pid): (cell, keys) for pid, cell, *keys in project.notes("computed")}
    in_flight = {(last_steps[pid][0], key) for pid in killed & last_steps.keys() for key in last_steps[pid][1]}
    twice = {each for each, times in project.computed().items() if times > 1}
    assert twice <= in_flight, f"computed again although they were kept: {sorted(twice - in_flight)[:3]}"


def kept_of_last(project: CrashProject) -> int:
    """The number of answers that the last run did not compute."""
    return sum(each["kept"]["kept"] for each in project.records()[-1]["outcomes"] if each["kept"])
