"""The recipes of README.md: a killed run goes on, and kept answers are judged by new gates without a model."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from tests.integration.conftest import ONE_PROCESS, Project
from tools.killed import kill_at

BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "few_shot_3"], samples=40)
def test_triage(puma):
    pass
"""
#: Real llama.cpp; in the second cell it waits to be killed as long as there is a file `waits`.
WAITING = """
import sqlite3
import time
from pathlib import Path

from pytest_puma.engine.native import NativeBackend
from pytest_puma.models.weights import weights_digest

HERE = Path(__file__).parent

def kept():
    return sqlite3.connect(HERE / ".puma" / "responses.sqlite").execute("SELECT count(*) FROM response").fetchone()[0]

class Waiting(NativeBackend):
    def decode(self, steps):
        while (HERE / "waits").exists() and kept() > 40:
            time.sleep(0.01)
        return super().decode(steps)

def pytest_puma_backend(model):
    return Waiting(model, threads=1, digest=weights_digest(model.path))
"""
#: Every import of llama.cpp fails.
NO_LLAMA = "import sys\nsys.modules['llama_cpp'] = None\n"
KEPT = re.compile(r"^kept answers: (.*), from run (\d{8}T\d{6}-\d+)(?: and 1 more)?$", re.MULTILINE)


@ONE_PROCESS
def test_a_killed_run_goes_on_and_is_judged_by_new_gates_without_a_model(project: Project) -> None:
    home = project.pytester.path
    project.write(conftest=WAITING, test_triage=BENCHMARK)
    model = home / "own.gguf"
    model.write_bytes(project.model.read_bytes())
    (home / "waits").touch()
    command = [sys.executable, "-m", "pytest", f"--puma-model={model}"]
    killed = kill_at(41, command, store=home / ".puma" / "responses.sqlite", cwd=home, env=os.environ)
    assert 41 <= killed < 80

    (home / "waits").unlink()
    resumed = project.run(f"--puma-model={model}", "--puma-report=json:resumed.json", model=False)
    resumed.assert_outcomes(passed=2)
    ((counted, first),) = KEPT.findall(resumed.stdout.str())
    assert counted == f"{killed} of 80 in 2 cells"
    resumed.stdout.fnmatch_lines(
        f"warning: triage_jira-few_shot_3@own: {killed - 40} of 40 answers kept from run {first}; "
        "the rest computed without them"
    )
    assert [outcome["kept"] for outcome in _outcomes(home / "resumed.json")] == [
        {"responses": 40, "kept": 40, "together": True, "batches": 1, "runs": [first]},
        {"responses": 40, "kept": killed - 40, "together": False, "batches": 1, "runs": [first]},
    ]

    model.unlink()
    project.write(conftest=NO_LLAMA)
    gate = "--puma-gate=parse_failure_rate < 0"
    judged = project.run("--puma-model=own", "--puma-offline", gate, "--puma-report=json:judged.json", model=False)
    judged.assert_outcomes(failed=2)
    ((counted, _),) = KEPT.findall(judged.stdout.str())
    assert counted == "all 80 of 2 cells"
    outcomes = _outcomes(home / "judged.json")
    assert [verdict["status"] for outcome in outcomes for verdict in outcome["verdicts"]] == ["FAIL", "FAIL"]


def _outcomes(report: Path) -> list[dict[str, Any]]:
    record: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    outcomes: list[dict[str, Any]] = sorted(record["outcomes"], key=lambda outcome: outcome["strategy"], reverse=True)
    return outcomes
