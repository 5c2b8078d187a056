"""The command line of a run, and the commit of its project, from git or from the environment of a CI job.

A container of a CI job often lacks git, or git refuses a folder of another owner; the variables are always there.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import Invocation
from pytest_puma.session.options import OPTIONS
from pytest_puma.session.project import project_root

#: Variables with the commit and the branch: GitHub's (a pull request has two names), then GitLab's.
_COMMIT = ("GITHUB_SHA", "CI_COMMIT_SHA")
_BRANCH = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME")
_STATUS = ("--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=no")


def invocation(config: pytest.Config) -> Invocation:
    """Return the invocation of this run."""
    command = shlex.join(["pytest", *_joined(map(str, config.invocation_params.args))])
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
    command = ["git", "-C", str(root), *_STATUS]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True, errors="replace")  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return Invocation()
    lines = result.stdout.splitlines()
    heads = dict(line.removeprefix("# branch.").split(" ", 1) for line in lines if line.startswith("# branch."))
    if heads.get("oid", "(initial)") == "(initial)":
        return Invocation()
    branch = heads.get("head", "")
    return Invocation(
        commit=heads["oid"],
        branch="" if branch == "(detached)" else branch,
        dirty=any(not line.startswith("#") for line in lines),
    )


def _joined(arguments: Iterator[str]) -> Iterator[str]:
    """Arguments in which each option of pytest-puma has its value behind `=`: readers know none of the options."""
    for argument in arguments:
        has_value = argument in OPTIONS and OPTIONS[argument].get("action") != "store_true"
        value = next(arguments, None) if has_value else None
        yield argument if value is None else f"{argument}={value}"


def _ci(environment: Mapping[str, str]) -> str:
    """The address of the job on GitHub, GitLab or Jenkins; `CI` on any other system."""
    if "GITHUB_RUN_ID" in environment:
        parts = [environment.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY")]
        return "/".join([*parts, "actions", "runs", environment["GITHUB_RUN_ID"]])
    return _first(environment, ("CI_JOB_URL", "BUILD_URL")) or ("CI" if environment.get("CI") else "")


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := environment.get(name))), "")
