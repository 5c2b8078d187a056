"""The invocation of pytest behind a run: its command, and the commit of the project."""

from __future__ import annotations

import shlex
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The command line, and the state of the project when it started; each text is empty if unknown.

    `command`: paths, `-k`, `-m` and the options of pytest-puma, each with its value behind `=`.
    `commit`: its whole hash; `branch`: empty if the head is detached; `dirty`: tracked files had uncommitted changes,
    or git did not track a file of `prompts/`, `benchmarks/` or `data/`, or `conftest.py`.
    `ci`: the address of the CI job, or the name of the CI system.
    """

    command: str = ""
    commit: str = ""
    branch: str = ""
    dirty: bool = False
    ci: str = ""

    def repeat(self, node_id: str) -> str:
        """The command that measures one cell again: that of the run, without what selects tests or writes files."""
        try:
            words = shlex.split(self.command)
        except ValueError:  # no program of ours wrote it
            words = []
        options = [each for each in words if each.startswith("--puma-") and not each.startswith(_WRITING)]
        return shlex.join(["pytest", node_id, *options])

    @property
    def revision(self) -> str:
        """The commit for people: `main@3f2c1d9`, and `3f2c1d9` without a branch; empty without a commit."""
        short = self.commit[:SHORT]
        return f"{self.branch}@{short}" if self.branch and short else short


#: Options that write files beside the run.
_WRITING = ("--puma-report", "--puma-update-baseline")

#: Digits of a commit for people.
SHORT = 7
