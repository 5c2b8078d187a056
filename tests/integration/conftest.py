from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.prediction_lines import prediction_lines
from tests.warm.imports import import_all

# What a run inside this process imports is unloaded after it, so all is loaded before: NumPy and Arrow load only once,
# and the rest of the package would take a tenth of the time of each run.
import_all()

#: Every worker would load scikit-learn, for seconds; tests/integration/test_naive_baselines.py has it.
INI = "[pytest]\npuma_naive_baselines = false\n"

#: The scripted model gives every issue one priority, in the form that the prompt asks for.
SCRIPTED = """
from pytest_puma.testing import ScriptedBackend

def answer(prompt):
    label = "13" if "story points" in prompt else "A" if "Issue B" in prompt or "issue B" in prompt else "Major"
    return f"It is broken.\\nAnswer: {label}" if "Answer:" in prompt else label

def pytest_puma_backend(model):
    return ScriptedBackend(answer)
"""

TRIAGE = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8)
def test_triage(puma):
    pass
"""

GATED = """
import pytest

@pytest.mark.puma(
    "triage_jira", strategies=["zero_shot", "option_scoring"], samples=50, gates=["accuracy >= baseline - 0.02"]
)
def test_triage(puma):
    pass
"""

#: Its priority depends on the case of the issue, and on the gender that it mentions; capitals have no readable answer.
MOODY = """
import re
from pytest_puma import Perturbation
from pytest_puma.perturbations.wording import NAMES
from pytest_puma.testing import ScriptedBackend

def answer(prompt):
    issue = re.sub("Title|Description|issue_?[abAB]?", "", prompt.rpartition("\\x03")[2].partition("<issue")[2])
    if re.search("[a-z]{3}", issue) is None:
        return "B" if "<issue_a>" in prompt else "I cannot say."
    if "<issue_a>" in prompt:
        return "A"
    return "Critical" if any(woman in issue for _, woman in NAMES) else "Major"

def pytest_puma_backend(model):
    return ScriptedBackend(answer)

def pytest_puma_perturbations():
    return [Perturbation(name="shouted", change=lambda text, random: text.upper() + "!")]
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
        options = [*arguments, *([f"--puma-model={self.model}"] if model else [])]
        if self.workers:
            return self.pytester.runpytest_inprocess("-p", "xdist", "-n", str(self.workers), *options)
        return self.pytester.runpytest_inprocess("-p", "no:xdist", *options)

    @property
    def folder(self) -> Path:
        """The one run folder."""
        (folder,) = (self.pytester.path / ".puma" / "runs").iterdir()
        return folder

    def record(self) -> dict[str, Any]:
        """`run.json`."""
        data: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return data

    def cell_ids(self) -> list[str]:
        """The cells of `run.json`, in order."""
        return [outcome["cell"] for outcome in self.record()["outcomes"]]

    def predictions(self) -> list[dict[str, Any]]:
        """`predictions.jsonl`, in a stable order, without what depends on the clock."""
        predictions = prediction_lines(self.folder / "predictions.jsonl")
        return sorted(predictions, key=lambda prediction: (prediction["cell"], prediction["sample_id"]))


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for every column of every table; tests/integration/test_output.py has narrow terminals."""
    monkeypatch.setenv("COLUMNS", "220")


#: `project` in one process, as `alone` is `scripted`: workers change nothing, or no more than in another test.
ONE_PROCESS = pytest.mark.parametrize("project", [0], ids=["alone"], indirect=True)


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


@pytest.fixture
def moody(project: Project) -> Project:
    """A project whose model is sensitive to perturbations."""
    project.write(conftest=MOODY, test_triage=TRIAGE)
    return project


@pytest.fixture
def alone_moody(alone: Project) -> Project:
    alone.write(conftest=MOODY, test_triage=TRIAGE)
    return alone


@pytest.fixture
def team(scripted: Project) -> Project:
    """A project with one gated test and its baseline."""
    return with_baseline(scripted)


@pytest.fixture
def one(alone: Project) -> Project:
    """The same in one process, where workers change nothing."""
    return with_baseline(alone)


def with_baseline(project: Project) -> Project:
    folder = project.pytester.mkdir("benchmarks")
    (folder / "test_triage.py").write_text(GATED, encoding="utf-8")
    project.run("benchmarks", "--puma-update-baseline", model=False).assert_outcomes(passed=2)
    return project


def baseline_files(project: Project) -> dict[str, str]:
    folder = project.pytester.path / "benchmarks" / "baselines"
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
