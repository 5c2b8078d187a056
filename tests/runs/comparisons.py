"""Two runs of a project, written and compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_puma.core import Outcome
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.comparison import RunComparison, compare
from pytest_puma.runs.past_run import Older, PastRun
from tests.runs.runs import keep

FIRST, SECOND = "20261101T100000-1", "20261102T100000-1"


def by_length(prompt: str) -> str:
    return ("Major", "Minor", "Critical")[len(prompt) % 3]


def runs(root: Path, old: Sequence[Outcome], new: Sequence[Outcome], *, pattern: str = "*") -> RunComparison:
    keep(root, FIRST, old)
    keep(root, SECOND, new)
    return compared(root, pattern=pattern)


def compared(root: Path, *, pattern: str = "*") -> RunComparison:
    old, new = (PastRun(runs_of(root) / name) for name in (FIRST, SECOND))
    return compare(new.run.outcomes, new.answered, Older.of_run("run 1", old), name="run 2", pattern=pattern)
