"""The commit of a project, from real repositories and from the variables of CI systems."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_puma.core import Invocation
from pytest_puma.session.settings.invocation import checkout, invocation

GITHUB = {"GITHUB_SHA": "9f" * 20, "GITHUB_HEAD_REF": "", "GITHUB_REF_NAME": "feature"}
GITLAB = {"CI_COMMIT_SHA": "9f" * 20, "CI_COMMIT_REF_NAME": "feature"}


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603


@pytest.fixture(autouse=True)
def _no_git_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-b", "main")
    (folder / "a.txt").write_text("one", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    return folder


def test_a_clean_branch_has_its_commit_and_untracked_files_are_no_dirt(repository: Path) -> None:
    (repository / "report.md").touch()
    current = checkout(repository, {})
    assert current == Invocation(commit=git(repository, "rev-parse", "HEAD"), branch="main")
    assert current.revision == f"main@{current.commit[:7]}"


def test_a_changed_file_makes_the_project_dirty(repository: Path) -> None:
    (repository / "a.txt").write_text("two", encoding="utf-8")
    assert checkout(repository, {}).dirty
    git(repository, "add", ".")
    assert checkout(repository, {}).dirty, "a staged change is not committed either"
    assert checkout(repository, {}).revision.endswith(" (dirty)")


@pytest.mark.parametrize("name", ["prompts/triage/zero_shot.j2", "benchmarks/a/test_b.py", "data/a.csv", "conftest.py"])
def test_untracked_files_that_decide_answers_make_the_project_dirty(repository: Path, name: str) -> None:
    path = repository / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    assert checkout(repository, {}).dirty
    (repository / ".gitignore").write_text(f"{name}\n", encoding="utf-8")
    assert not checkout(repository, {}).dirty, "an ignored file is the user's choice"


def test_an_untracked_prompt_of_a_project_inside_a_repository_makes_it_dirty(repository: Path) -> None:
    project = repository / "team" / "project"
    (project / "prompts").mkdir(parents=True)
    assert not checkout(project, {}).dirty
    (repository / "prompts").mkdir()
    (repository / "prompts" / "of_another_project.j2").touch()
    assert not checkout(project, {}).dirty
    (project / "prompts" / "own.j2").touch()
    assert checkout(project, {}).dirty


def test_the_caches_of_python_are_no_dirt(repository: Path) -> None:
    cache = repository / "benchmarks" / "team" / "__pycache__"
    cache.mkdir(parents=True)
    (cache / "test_a.pyc").touch()
    assert not checkout(repository, {}).dirty


def test_a_detached_head_has_the_branch_of_the_job_if_that_is_about_the_same_commit(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "--detach")
    assert checkout(repository, {}) == Invocation(commit=commit)
    assert checkout(repository, {}).revision == commit[:7]
    assert checkout(repository, GITHUB) == Invocation(commit=commit), "a job of another repository"
    assert checkout(repository, GITHUB | {"GITHUB_SHA": commit}) == Invocation(commit=commit, branch="feature")


def test_a_shallow_clone_has_its_commit(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--depth", "1", repository.as_uri(), str(clone))
    assert checkout(clone, {}) == checkout(repository, {})


@pytest.mark.parametrize("variables", [GITHUB, GITLAB])
def test_without_a_repository_the_variables_of_the_job_count(tmp_path: Path, variables: dict[str, str]) -> None:
    assert checkout(tmp_path, {}) == Invocation()
    assert checkout(tmp_path, variables) == Invocation(commit="9f" * 20, branch="feature")


def test_without_git_the_variables_of_the_job_count(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert checkout(repository, {}) == Invocation()
    assert checkout(repository, GITLAB) == Invocation(commit="9f" * 20, branch="feature")


def test_before_the_first_commit_nothing_is_known(tmp_path: Path) -> None:
    git(tmp_path, "init", "-b", "main")
    assert checkout(tmp_path, {}) == Invocation()


def test_the_command_repeats_a_cell_with_what_decides_its_answers(pytester: pytest.Pytester) -> None:
    arguments = (
        "--puma-model",
        "a b.gguf",
        "--puma-strict",
        "-k",
        "few",
        "--puma-samples=8",
        "-o",
        "puma_inconclusive=fail",
        "--puma-report",
        "md:o.md",
    )
    current = invocation(pytester.parseconfig(*arguments))
    kept = (
        "'--puma-model=a b.gguf' --puma-strict -k few --puma-samples=8 -opuma_inconclusive=fail --puma-report=md:o.md"
    )
    assert current.command.startswith(f"pytest {kept}")
    repeat = "pytest 'test_a.py::test[a b]' '--puma-model=a b.gguf' --puma-strict --puma-samples=8"
    repeat += " -opuma_inconclusive=fail"
    assert current.repeat("test_a.py::test[a b]") == repeat


PLUGIN = """
def pytest_addoption(parser):
    parser.addoption("--api-key")
    parser.addoption("--verbose-key", action="store_true")
"""


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (("--api-key=sk-1", "--puma-seed=1"), "--puma-seed=1"),
        (("--api-key", "sk-1", "--puma-seed", "1"), "--puma-seed=1"),
        (("--verbose-key", "benchmarks", "-p", "no:xdist", "-o", "log_file=sk-1"), "benchmarks"),
        (("benchmarks/test_a.py::test[a]", "--api-key", "sk-1"), "'benchmarks/test_a.py::test[a]'"),
        (("-xk", "few or one", "-m", "puma", "-kthree", "-m=slow"), "-k 'few or one' -m puma -k three -m slow"),
        (("-opuma_gates=mae <= 2", "--override-ini=puma_keep_runs=2"), "'-opuma_gates=mae <= 2' -opuma_keep_runs=2"),
        (("-vv", "-rA", "--tb=short", "--maxfail=3", "--puma-model=a=b.gguf,n_ctx=8"), "--puma-model=a=b.gguf,n_ctx=8"),
    ],
)
def test_options_of_others_are_not_recorded_as_they_may_have_secrets(
    pytester: pytest.Pytester, arguments: tuple[str, ...], kept: str
) -> None:
    pytester.makeconftest(PLUGIN)
    pytester.mkdir("benchmarks")
    config = pytester.parseconfig(*arguments)
    assert invocation(config).command == f"pytest {kept}"


def test_a_command_that_is_none_leaves_the_test_alone() -> None:
    assert Invocation(command="pytest 'x").repeat("test_a.py::test[a]") == "pytest 'test_a.py::test[a]'"
