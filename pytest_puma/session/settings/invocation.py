"""The command line of a run, and the commit of its project, from git or from the environment of a CI job.

Of the command line, paths, the options of pytest-puma, its keys of the ini file (`-o`), `-k` and `-m` are recorded:
those of other plugins may have secrets, as `--api-key` has.

A container of a CI job often lacks git, or git refuses a folder of another owner; the variables are always there.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import Invocation
from pytest_puma.session.settings.options import OPTIONS
from pytest_puma.session.settings.project import project_root

#: Variables with the commit and the branch: GitHub's (a pull request has two names), then GitLab's.
_COMMIT = ("GITHUB_SHA", "CI_COMMIT_SHA")
_BRANCH = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME")
_STATUS = ("--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=no")
#: Files that decide answers and gates; Python's caches are none of them.
_DECIDING = ("prompts", "benchmarks", "data", "conftest.py", ":(exclude,glob)**/__pycache__/**")
_UNTRACKED = ("ls-files", "--others", "--exclude-standard", "--", *_DECIDING)
#: `-k few`, `-kfew`, `-k=few`, `-xk few`, and the same with `-m` and `-o`.
_SHORT = re.compile(r"-[hlqsvxV]*(?P<name>[kmo])=?(?P<value>.*)", re.DOTALL)
_OVERRIDE = "--override-ini"


def invocation(config: pytest.Config) -> Invocation:
    """Return the invocation of this run."""
    paths = [str(path) for path in getattr(config.option, "file_or_dir", None) or ()]
    command = shlex.join(["pytest", *_recorded(map(str, config.invocation_params.args), paths)])
    return replace(checkout(project_root(config), os.environ), ci=_ci(os.environ), command=command)


def checkout(root: Path, environment: Mapping[str, str]) -> Invocation:
    """Return the commit, the branch and the dirt of the project in a folder.

    A detached head, as in most CI jobs, takes its branch from the environment, if that has the same commit.
    """
    from_git = of_git(root)
    commit, branch = _first(environment, _COMMIT), _first(environment, _BRANCH)
    if not from_git.commit:
        return Invocation(commit=commit, branch=branch)
    return from_git if from_git.branch or commit != from_git.commit else replace(from_git, branch=branch)


def of_git(root: Path) -> Invocation:
    """Return what git knows; nothing without a repository, without git, and before the first commit."""
    lines = _git(root, _STATUS)
    heads = dict(line.removeprefix("# branch.").split(" ", 1) for line in lines if line.startswith("# branch."))
    if heads.get("oid", "(initial)") == "(initial)":
        return Invocation()
    branch = heads.get("head", "")
    return Invocation(
        commit=heads["oid"],
        branch="" if branch == "(detached)" else branch,
        dirty=any(not line.startswith("#") for line in lines) or bool(_git(root, _UNTRACKED)),
    )


def _git(root: Path, arguments: Sequence[str]) -> list[str]:
    """The lines of a command; none without git or a repository."""
    command = ["git", "-C", str(root), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True, errors="replace")  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return []
    return result.stdout.splitlines()


def _recorded(arguments: Iterator[str], paths: Sequence[str]) -> Iterator[str]:
    """The arguments that may be recorded; options have their value behind `=`: readers know none of the options."""
    for argument in arguments:
        name, short = argument.partition("=")[0], _SHORT.fullmatch(argument)
        if argument in OPTIONS and OPTIONS[argument].get("action") != "store_true":
            yield f"{argument}={next(arguments, '')}"
        elif name in OPTIONS or argument in paths:
            yield argument
        elif short or name == _OVERRIDE:
            value = short["value"] if short else argument[len(_OVERRIDE) + 1 :]
            value = value or next(arguments, "")
            if short and short["name"] != "o":
                yield from (f"-{short['name']}", value)
            elif value.startswith("puma_"):
                yield f"-o{value}"


def _ci(environment: Mapping[str, str]) -> str:
    """The address of the job on GitHub, GitLab or Jenkins; `CI` on any other system."""
    if "GITHUB_RUN_ID" in environment:
        parts = [environment.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY")]
        return "/".join([*parts, "actions", "runs", environment["GITHUB_RUN_ID"]])
    return _first(environment, ("CI_JOB_URL", "BUILD_URL")) or ("CI" if environment.get("CI") else "")


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := environment.get(name))), "")
