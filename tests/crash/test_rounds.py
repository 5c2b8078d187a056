"""Runs that a signal ends at a random moment. `PUMA_CRASH_ROUNDS=50` tries each kind as often."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.crash.rounds import one_round

ROUNDS = int(os.environ.get("PUMA_CRASH_ROUNDS", "1"))
KINDS = {
    "ctrl_c": ("SIGINT:{}:1:", 0),
    "ctrl_c_twice": ("SIGINT:{}:2:", 0),
    "ctrl_c_with_workers": ("SIGINT:{}:1:group", 2),
    "cancelled": ("SIGTERM:{}:1:", 0),
    "killed": ("SIGKILL:{}:1:", 0),
}


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_ends_at_any_moment_leaves_whole_files(tmp_path: Path, kind: str, number: int) -> None:
    shot, workers = KINDS[kind]
    after = Random(f"{kind} {number}").uniform(0.0, 4.0)  # noqa: S311
    run, faults = one_round(tmp_path, shot.format(after), workers=workers)
    assert faults == [], run.output
    assert run.seconds is not None, "the run ended before the signal"
