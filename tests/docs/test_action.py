"""The composite action and the workflows of the repository: their commands run, and what they name exists."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.reference import ROOT
from tests.integration.conftest import SCRIPTED, Project

TEXT = (ROOT / "action.yml").read_text(encoding="utf-8")
ACTION = yaml.safe_load(TEXT)
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
WORKFLOWS = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in ROOT.glob(".github/workflows/*.yml")
}
BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=4, gates=["accuracy >= {least}"])
def test_triage(puma):
    pass
"""


def _run(part: str, folder: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the step whose script has this part, with its inputs as `variables`."""
    (step,) = (step for step in STEPS if part in step.get("run", ""))
    assert step["env"].keys() - {"COLUMNS"} <= variables.keys()
    python = f"{shlex.quote(sys.executable)} -m pytest "
    script = re.sub(r"^pytest ", lambda _: python, step["run"], flags=re.MULTILINE)
    environment = {**os.environ, **variables}
    return subprocess.run(  # noqa: S603 - ours
        ["bash", "-e", "-c", script],  # noqa: S607
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_inputs_are_declared_and_used() -> None:
    assert set(re.findall(r"inputs\.([\w-]+)", TEXT)) == ACTION["inputs"].keys()


def test_each_script_is_one_of_the_shell() -> None:
    jobs = [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]
    steps = [*STEPS, *(step for job in jobs for step in job["steps"])]
    for step in steps:
        assert ("uses" in step) != ("run" in step)
        subprocess.run(["bash", "-n", "-c", step.get("run", "")], check=True)  # noqa: S603, S607 - ours
    assert all(step["shell"] == "bash" for step in STEPS if "run" in step)


def test_what_is_restored_is_saved_under_the_same_path() -> None:
    restored, saved = (
        [step["with"]["path"] for step in STEPS if step.get("uses", "").startswith(f"actions/cache/{word}")]
        for word in ("restore", "save")
    )
    assert restored == saved
    assert len(restored) == 3


def test_the_model_is_fetched_once(tmp_path: Path, gguf: Path) -> None:
    served = tmp_path / "served.gguf"
    served.write_bytes(gguf.read_bytes())
    variables = {"URL": served.as_uri(), "HOME": str(tmp_path), "GITHUB_ENV": str(tmp_path / "env")}
    assert _run("curl", tmp_path, variables).returncode == 0
    served.unlink()
    assert _run("curl", tmp_path, variables).returncode == 0
    model = tmp_path / ".cache" / "puma-model" / "served.gguf"
    assert model.read_bytes() == gguf.read_bytes()
    assert (tmp_path / "env").read_text(encoding="utf-8") == f"PUMA_MODEL={model}\n" * 2


def test_the_key_of_the_wheels_changes_with_the_dependencies(tmp_path: Path) -> None:
    variables = {"PUMA": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "output")}
    for text in ("a", "b", "a"):
        (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
        assert _run("sha256sum", tmp_path, variables).returncode == 0
    first, second, third = (tmp_path / "output").read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"wheels=[0-9a-f]{16}", first)
    assert first == third != second


@pytest.mark.parametrize(("least", "status"), [(0.0, 0), (1.0, 1)])
def test_the_benchmarks_run_and_write_their_reports(
    pytester: pytest.Pytester, gguf: Path, least: float, status: int
) -> None:
    project = Project(pytester, gguf, 0)
    pytester.makeini("[pytest]\npuma_naive_baselines = false\n")
    project.write(conftest=SCRIPTED, **{"benchmarks/test_triage": BENCHMARK.format(least=least)})
    variables = {
        "BENCHMARKS": "benchmarks",
        "ARGUMENTS": "--puma-samples 3 --puma-compare strategy",
        "PUMA_MODEL": str(gguf),
        "GITHUB_STEP_SUMMARY": str(pytester.path / "summary.md"),
    }
    result = _run("pytest ", pytester.path, variables)
    assert result.returncode == status, result.stdout + result.stderr
    written = {path.name for path in pytester.path.iterdir()}
    assert written >= {"comment.md", "junit.xml", "report.html", "summary.md"}
    assert "| 3 |" in " ".join((pytester.path / "comment.md").read_text(encoding="utf-8").split())


def test_workflows_build_what_they_upload() -> None:
    assert WORKFLOWS.keys() == {"docs.yml", "release.yml", "test.yml"}
    version = re.findall(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert [citation["version"]] == version
    assert (ROOT / ".ci" / "run").is_file()
    assert "build/site" in (ROOT / "tools" / "site.py").read_text(encoding="utf-8")
    # Trusted publishing: no secret.
    assert WORKFLOWS["release.yml"]["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
