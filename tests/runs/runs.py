"""Projects with runs in their history, written as a run writes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_puma.core import Invocation, Outcome, Run
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.run_folder import RunFolder
from pytest_puma.runs.run_order import RECORD
from tests.factories import cell, evaluated, revised, run

MAIN = Invocation(command="pytest", commit="3f2c1d9a" * 5, branch="main")


def triaged(answer: str | Callable[[str], str] = "Major", *, strategy: str = "zero_shot", **fields: Any) -> Outcome:
    """A cell with real predictions."""
    outcome = evaluated(cell(strategy=strategy, **fields), answer)
    return revised(outcome, node_id=f"test_t.py::test_t[{outcome.cell}]")


def keep(root: Path, name: str, outcomes: Sequence[Outcome], *, at: float | None = None, **fields: Any) -> Run:
    """Write a run as pytest does; `at`: the time of the file, for a clock that was set back."""
    folder = RunFolder(root, name)
    for outcome in outcomes:
        folder.add(outcome)
    kept = run(*outcomes, **{"id": name, "started": "2026-11-25T12:00:00+00:00", "invocation": MAIN} | fields)
    folder.finish(kept)
    folder.close()
    if at is not None:
        os.utime(runs_of(root) / name / RECORD, (at, at))
    return kept
