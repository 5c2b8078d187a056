from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Loaded before any run inside this process: what a run imports is unloaded after it, and NumPy and Arrow load once.
import pandas.core.arrays.arrow.extension_types  # type: ignore[import-not-found]  # noqa: F401
import pytest
import sklearn.compose
import sklearn.linear_model
import sklearn.model_selection  # noqa: F401

import pytest_puma.analysis.cross_cell
import pytest_puma.analysis.naive_baselines
import pytest_puma.engine.native
import pytest_puma.metrics
import pytest_puma.models
import pytest_puma.scenarios.sampling
import pytest_puma.session.collect
import pytest_puma.session.controller
import pytest_puma.session.item
import pytest_puma.store.run_folder  # noqa: F401

#: Every worker would load scikit-learn, for seconds; tests/integration/test_naive_baselines.py has it.
INI = "[pytest]\npuma_naive_baselines = false\n"

#: What the scripted model says of an issue: one priority whatever is asked, in the form that was asked for.
SCRIPTED = """
from pytest_puma.testing import ScriptedBackend

def answer(prompt):
    said = "13" if "story points" in prompt else "A" if "Issue B" in prompt or "issue B" in prompt else "Major"
    return f"It is broken.\\nAnswer: {said}" if "Answer:" in prompt else said

def pytest_puma_backend(model):
    return ScriptedBackend(answer)
"""

TRIAGE = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8)
def test_triage(puma):
    pass
"""


@dataclass(frozen=True)
class Project:
    """A user's project in an empty folder, with a model at hand, run with or without workers."""

    pytester: pytest.Pytester
    model: Path
    workers: int

    def write(self, **files: str) -> None:
        """Python files by module name."""
        self.pytester.makepyfile(**files)

    def run(self, *arguments: str, model: bool = True) -> pytest.RunResult:
        said = [*arguments, *([f"--puma-model={self.model}"] if model else [])]
        if self.workers:
            return self.pytester.runpytest_subprocess("-p", "xdist", "-n", str(self.workers), *said)
        return self.pytester.runpytest_inprocess("-p", "no:xdist", *said)

    @property
    def folder(self) -> Path:
        """The one run folder."""
        (folder,) = (self.pytester.path / ".puma" / "runs").iterdir()
        return folder

    def record(self) -> dict[str, Any]:
        """`run.json`."""
        data: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return data

    def predictions(self) -> list[dict[str, Any]]:
        """`predictions.jsonl`, in a stable order, without what depends on the clock."""
        lines = (self.folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
        found = [data for line in lines if (data := json.loads(line))["kind"] == "prediction"]
        for prediction in found:
            del prediction["usage"]["seconds"]
        return sorted(found, key=lambda prediction: (prediction["cell"], prediction["sample_id"]))


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for every column of every table; tests/integration/test_output.py has narrow terminals."""
    monkeypatch.setenv("COLUMNS", "220")


@pytest.fixture(params=[0, 2], ids=["alone", "two_workers"])
def project(request: pytest.FixtureRequest, pytester: pytest.Pytester, gguf: Path) -> Project:
    """Real llama.cpp on a tiny model."""
    pytester.makeini(INI)
    return Project(pytester, gguf, request.param)


@pytest.fixture
def scripted(project: Project) -> Project:
    """The same with scripted answers."""
    project.write(conftest=SCRIPTED)
    return project


@pytest.fixture
def alone(pytester: pytest.Pytester, gguf: Path) -> Project:
    """Scripted answers, one process: for stories that workers cannot change."""
    pytester.makeini(INI)
    pytester.makepyfile(conftest=SCRIPTED)
    return Project(pytester, gguf, 0)
