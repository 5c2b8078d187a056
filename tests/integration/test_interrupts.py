"""Ctrl-C and other signals: the run ends with what there is, and every file of it is whole."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from tests.integration.conftest import SCRIPTED, Project

#: Sends the process a real signal at one moment; `TIMES` moments pass before it.
SIGNALS = """
import os
import signal
import sys
import pytest

TIMES = {times}

def moment():
    global TIMES
    TIMES -= 1
    if TIMES == 0 and "PYTEST_XDIST_WORKER" not in os.environ:
        for _ in range({presses}):
            os.kill(os.getpid(), signal.{signal})

def at(function):
    def wrapped(*arguments, **options):
        moment()
        return function(*arguments, **options)
    return wrapped

"""
CELLS = """
import pytest

@pytest.mark.puma(
    "triage_jira", strategies=["zero_shot", "one_shot", "egi"], samples=8, gates=["accuracy >= 0.1"]
)
def test_triage(puma):
    pass
"""
#: Where the signal comes, and how many of the three cells are complete by then.
MOMENTS = {
    "collection": ("def pytest_collection_modifyitems(): moment()", 1, 0),
    "load": ("scripted = pytest_puma_backend\ndef pytest_puma_backend(model): moment(); return scripted(model)", 1, 0),
    "batch": ("ScriptedBackend.decode = at(ScriptedBackend.decode)", 5, 0),
    "later batch": ("ScriptedBackend.decode = at(ScriptedBackend.decode)", 10, 1),
    "between cells": ("def pytest_runtest_logfinish(): moment()", 2, 2),
    # While a template is rendered, whose own errors are caught.
    "template": ("from jinja2 import Template as it\nit.new_context = at(it.new_context)", 66, 1),
    "assessment": ("import pytest_puma.session.items.item as item\nitem.assess = at(item.assess)", 2, 1),
    "naive baselines": (
        "from pytest_puma.analysis.naive_baselines import NaiveBaselines as naive\nnaive.find = at(naive.find)",
        2,
        1,
    ),
    "predictions": (
        "import pytest_puma.runs.run_folder as folder\nfolder.append = at(folder.append)",
        2,
        2,
    ),
    "end": ("import pytest_puma.analysis.cross_cell as cross\ncross.verdicts = at(cross.verdicts)", 1, 3),
    "record": ("import pytest_puma.runs.run_folder as folder\nfolder.as_json = at(folder.as_json)", 1, 3),
    "reports": ("import pytest_puma.session.controller.output as output\noutput.emit = at(output.emit)", 1, 3),
    "summary": ("import pytest_puma.session.controller.notes as notes\nnotes.summary = at(notes.summary)", 1, 3),
}


def interrupted(
    project: Project, moment: str, *arguments: str, signal: str = "SIGINT", presses: int = 1
) -> pytest.RunResult:
    code, times, _ = MOMENTS[moment]
    project.write(
        conftest=SIGNALS.format(times=times, presses=presses, signal=signal) + SCRIPTED + code, test_cells=CELLS
    )
    project.pytester.makeini("[pytest]\n")
    workers = ("-p", "xdist", "-n2") if project.workers else ("-p", "no:xdist")
    arguments = (f"--puma-model={project.model}", *workers, *arguments)
    result = project.pytester.runpytest_subprocess(*arguments, "--puma-report=md:run.md", timeout=300)
    for stream in (result.stdout, result.stderr):
        for text in ("*INTERNALERROR*", "*Exception ignored*", "*Error*"):
            stream.no_fnmatch_line(text)
    return result


def check(project: Project, complete: int) -> None:
    """The record, the predictions and the report of the run have the same cells, and no file is left over."""
    root = project.pytester.path
    assert [path.name for path in root.rglob(".*.*") if path.name != ".gitignore"] == []
    if not complete:
        assert not (root / ".puma" / "runs").exists()
        return
    assert len({*project.cell_ids()}) == complete
    assert [line["cell"] for line in project.predictions()] == sorted(project.cell_ids() * 8)
    assert (root / "run.md").read_text(encoding="utf-8").count("| accuracy") == complete


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_ends_the_run_with_what_there_is(alone: Project, moment: str) -> None:
    result = interrupted(alone, moment)
    complete = MOMENTS[moment][2]
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stderr.no_fnmatch_line("*Traceback*")
    check(alone, complete)
    if 0 < complete < 3:
        (problem,) = alone.record()["problems"]
        assert problem.startswith(f"the run was stopped: {3 - complete} of 3 cells did not run: test_cells.py::")
        result.stdout.fnmatch_lines(["triage_jira *zero_shot *", "* accuracy *PASS*", problem])
        assert "### puma: 1 problem of the run" in (alone.pytester.path / "run.md").read_text(encoding="utf-8")


def test_ctrl_c_with_workers_keeps_the_complete_cells(pytester: pytest.Pytester, gguf: Path) -> None:
    project = Project(pytester, gguf, 2)
    result = interrupted(project, "between cells")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert len(project.cell_ids()) >= 2
    check(project, len(project.cell_ids()))


@pytest.mark.parametrize("moment", ["batch", "predictions", "record"])
def test_ctrl_c_twice_ends_the_run_at_once_without_half_files(alone: Project, moment: str) -> None:
    result = interrupted(alone, moment, presses=2)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    root = alone.pytester.path
    assert [path.name for path in root.rglob(".*.*") if path.name != ".gitignore"] == []
    for path in root.rglob("*.json"):
        assert json.loads(path.read_text(encoding="utf-8"))
    lines = [line for path in root.rglob("predictions.jsonl") for line in path.read_text(encoding="utf-8").split("\n")]
    assert len(lines) % 9 == (1 if lines else 0), "whole cells, and the end of the last line"


@pytest.mark.parametrize(
    ("signal", "moment"),
    [("SIGTERM", "later batch"), ("SIGTERM", "template"), ("SIGTERM", "predictions"), ("SIGHUP", "record")],
)
def test_a_cancelled_job_and_a_closed_terminal_end_the_run_like_ctrl_c(
    alone: Project, signal: str, moment: str
) -> None:
    result = interrupted(alone, moment, signal=signal)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["triage_jira *zero_shot *", f"*Exit: {signal} received*"])
    check(alone, MOMENTS[moment][2])


def test_an_interrupted_run_changes_no_baseline(alone: Project) -> None:
    result = interrupted(alone, "between cells", "--puma-update-baseline", "--puma-prune-baseline")
    result.stdout.fnmatch_lines(["baselines are unchanged, as the run did not reach its end"])
    assert not (alone.pytester.path / "benchmarks").exists()


#: The third decode is one call of C that no signal ends; it takes minutes.
STUCK = """
import hashlib, os, signal, sys, threading, time

decoded = []
usual = ScriptedBackend.decode

def decode(self, steps):
    decoded.append(1)
    if len(decoded) == 3:
        threading.Thread(target=press, daemon=True).start()
        hashlib.pbkdf2_hmac("sha256", b"", b"", 300_000_000)
    return usual(self, steps)

def press():
    for _ in range(2):
        time.sleep(1.5)
        os.kill(os.getpid(), signal.SIGINT)

ScriptedBackend.decode = decode
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_second_ctrl_c_ends_a_long_step_at_once(alone: Project) -> None:
    alone.write(conftest=SCRIPTED + STUCK, test_cells=CELLS)
    alone.pytester.makeini("[pytest]\n")
    result = alone.pytester.runpytest_subprocess(f"--puma-model={alone.model}", "-p", "no:xdist", timeout=120)
    assert result.ret == 128 + signal.SIGINT
    result.stdout.fnmatch_lines(["puma: Ctrl-C: the running step ends first; Ctrl-C again ends the process at once"])
