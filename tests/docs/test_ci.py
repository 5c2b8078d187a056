"""The files of docs/ci.md are YAML, and their commands run: options exist, and reports are written."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.reference import ROOT
from tests.integration.conftest import SCRIPTED, Project

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```yaml\n# (\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
GITHUB, GITLAB = (yaml.safe_load(FILES[name]) for name in (".github/workflows/benchmarks.yml", ".gitlab-ci.yml"))
BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=4, gates=["accuracy >= {least}"])
def test_triage(puma):
    pass
"""


def _steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = GITHUB["jobs"]["benchmarks"]["steps"]
    return steps


def _scripts(file: str) -> list[str]:
    """The shell commands of a file, without the expressions of GitHub, which are replaced before a shell sees them."""
    if file == "github":
        return [re.sub(r"\$\{\{.*?\}\}", "1", step["run"]) for step in _steps() if "run" in step]
    return [*GITLAB["benchmarks"]["script"], *GITLAB["benchmarks"]["after_script"]]


def _variables(file: str) -> dict[str, str]:
    return {
        key: str(value)
        for key, value in (GITHUB["env"] if file == "github" else GITLAB["benchmarks"]["variables"]).items()
    }


def _pytest_of(file: str) -> str:
    (command,) = (script for script in _scripts(file) if script.startswith("pytest "))
    return command


def test_a_step_of_github_uses_an_action_or_runs_a_command() -> None:
    assert {"uses", "run"} <= {key for step in _steps() for key in step}
    assert all(("uses" in step) != ("run" in step) for step in _steps())
    assert all(re.fullmatch(r"actions/[\w/-]+@v\d+", step["uses"]) for step in _steps() if "uses" in step)


def test_what_is_restored_is_saved_under_the_same_path() -> None:
    restored, saved = (
        [step["with"]["path"] for step in _steps() if step.get("uses", "").startswith(f"actions/cache/{word}")]
        for word in ("restore", "save")
    )
    assert restored == saved == ["wheels", "models", ".puma/responses.sqlite*"]


def test_both_files_do_the_same() -> None:
    common = {"MODEL", "MODEL_URL", "CMAKE_ARGS", "COLUMNS"}
    assert {key: _variables("github")[key] for key in common} == _variables("gitlab")
    assert _scripts("github")[0].splitlines() == _scripts("gitlab")[:2]
    assert [cache["paths"] for cache in GITLAB["benchmarks"]["cache"]] == [
        ["wheels"],
        ["models"],
        [".puma/responses.sqlite*"],
    ]
    summary = ' --puma-report "md:$GITHUB_STEP_SUMMARY"'
    assert _pytest_of("github").replace(summary, "") == _pytest_of("gitlab")


@pytest.mark.parametrize("file", ["github", "gitlab"])
def test_each_command_is_one_of_the_shell(file: str) -> None:
    for script in _scripts(file):
        subprocess.run(["bash", "-n", "-c", script], check=True)  # noqa: S603, S607 - ours


@pytest.mark.parametrize(("file", "least", "status"), [("github", 0.0, 0), ("gitlab", 1.0, 1)])
def test_the_benchmarks_run_and_write_their_reports(
    pytester: pytest.Pytester, gguf: Path, file: str, least: float, status: int
) -> None:
    project = Project(pytester, gguf, 0)
    pytester.makeini("[pytest]\npuma_naive_baselines = false\n")
    project.write(conftest=SCRIPTED, **{"benchmarks/test_triage": BENCHMARK.format(least=least)})
    command = _pytest_of(file)
    variables = _variables(file) | {"MODEL": str(gguf), "GITHUB_STEP_SUMMARY": str(pytester.path / "summary.md")}
    result = subprocess.run(  # noqa: S603 - ours
        ["bash", "-c", command.replace("pytest ", f"{shlex.quote(sys.executable)} -m pytest ", 1)],  # noqa: S607
        cwd=pytester.path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == status, result.stdout + result.stderr
    written = {path.name for path in pytester.path.iterdir()}
    reports = set(re.findall(r"(?:\w+:|--junitxml )([\w.]+\.\w+)", command))
    assert reports >= {"comment.md", "junit.xml", "report.html"}
    assert written >= reports
    assert ("summary.md" in written) == (file == "github")
    assert "triage_jira" in (pytester.path / "comment.md").read_text(encoding="utf-8")
    assert 'name="puma.accuracy"' in (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert (pytester.path / ".puma").is_dir()


def test_the_pinned_versions_are_allowed_by_the_package() -> None:
    (pinned,) = re.findall(r"^llama-cpp-python==([\d.]+)$", PAGE, re.MULTILINE)
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'"llama-cpp-python>={pinned},' in text
    (version,) = re.findall(r'^version = "(.*)"', text, re.MULTILINE)
    assert f"vendor/pytest_puma-{version}-py3-none-any.whl\n" in PAGE
