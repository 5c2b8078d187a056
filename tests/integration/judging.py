"""A project whose replies are judged by scripted judges with a temper, and what its runs leave."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.conftest import Project

#: The model says "Major", or "Critical" about an outage; judges have a temper by name. Each start and each computed
#: reply is a line of a file.
CONFTEST = """
import os
from pytest_puma import rubric
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    def note(file, text):
        with open(file, "a") as lines:
            print(text, file=lines)

    def answer(prompt):
        note("asked.txt", model.name)
        if "Lines that begin with >" not in prompt:
            return "Major"
        if model.name == "moody":
            return "no" if "> Major" in prompt and "crash" in prompt.lower() else "yes"
        return {"kind": "yes", "strict": "no"}[model.name]

    note("opened.txt", model.name)
    return ScriptedBackend(answer, digest="5a" if model.name == "tested" else model.name)

def pytest_puma_metrics():
    return [rubric("calm", "Is the reply calm?"), rubric("brief", "Is the reply brief?")]
"""
BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "few_shot_3"], samples=6, gates=GATES, JUDGE)
def test_triage(puma):
    pass
"""


def write(project: Project, *gates: str, judge: str = "") -> None:
    body = BENCHMARK.replace("GATES", repr([*gates])).replace(", JUDGE", f", judge={judge!r}" if judge else "")
    project.write(conftest=CONFTEST, test_triage=body)


def run(project: Project, *judges: str, options: tuple[str, ...] = ()) -> pytest.RunResult:
    named = [f"--puma-judge={judge}={project.model}" for judge in judges]
    return project.run(f"--puma-model=tested={project.model}", *named, *options, model=False)


def lines(project: Project, name: str) -> list[str]:
    return (project.pytester.path / name).read_text(encoding="utf-8").splitlines()


def newest(project: Project) -> list[dict[str, Any]]:
    folder = max((project.pytester.path / ".puma" / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    outcomes: list[dict[str, Any]] = json.loads((folder / "run.json").read_text(encoding="utf-8"))["outcomes"]
    return outcomes


def value(outcome: dict[str, Any], metric: str) -> Any:
    return outcome["measures"][metric]["value"]
