"""A run of a real model, killed with some of its answers kept, and resumed: beside an uninterrupted run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_puma.core import Model
from tests.crash.project import CrashProject, environment
from tests.crash.test_kill_tiny import predictions
from tests.real.conftest import ask_briefly
from tools.killed import kill_at

CELLS = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=6)
def test_triage(puma):
    pass
"""
#: Of 6, or of 5 strict ones; the first ones of a batch end together.
KEPT = 3


@pytest.mark.parametrize("mode", ["--puma-strict", "--puma-store=mix"])
def test_a_resumed_run_keeps_what_it_promises(tmp_path: Path, models: dict[str, Model], mode: str) -> None:
    whole, killed = project(tmp_path / "whole"), project(tmp_path / "killed")
    arguments = ["-p", "no:xdist", "-q", f"--puma-model={models['smollm2'].path}", mode]
    if mode == "--puma-strict":  # each answer is computed alone, and takes longer
        arguments.append("--puma-samples=5")
    assert whole.run(*arguments).code == 0

    command = [sys.executable, "-m", "pytest", *arguments]
    kept = kill_at(KEPT, command, store=killed.store, cwd=killed.folder, env=environment())
    last = killed.run(*arguments)

    assert last.code == 0, last.output
    cells = [each["kept"] for each in killed.records()[-1]["outcomes"]]
    differing = sum(one != other for one, other in zip(predictions(killed), predictions(whole), strict=True))
    if mode == "--puma-store=mix":
        assert sum(each["kept"] for each in cells if each) == kept
        assert "the rest computed without them" in last.output
        # Near-ties alone; a wrong answer for a request would change most of them.
        assert differing <= len(predictions(whole)) // 3
    else:
        assert differing == 0


def project(folder: Path) -> CrashProject:
    """A project with the real model alone."""
    folder.mkdir()
    made = CrashProject(folder)
    made.write("pytest.ini", "[pytest]\npuma_naive_baselines = false\n")
    made.write("test_triage.py", CELLS)
    ask_briefly(folder)
    return made
