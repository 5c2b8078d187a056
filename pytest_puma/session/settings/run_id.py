"""The name of the run and the time of its start, the same in all processes of the run."""

from __future__ import annotations

import os
from datetime import datetime, timezone

import pytest

_STARTED: pytest.StashKey[tuple[str, datetime]] = pytest.StashKey()
#: Key of the worker input.
_INPUT = "puma_run"


def run_id(config: pytest.Config) -> tuple[str, datetime]:
    """Return the name, which a run folder has too, and the start of the run."""
    if _STARTED not in config.stash:
        given = getattr(config, "workerinput", {}).get(_INPUT)
        config.stash[_STARTED] = _new() if given is None else (given[0], datetime.fromisoformat(given[1]))
    return config.stash[_STARTED]


def add_run_id(config: pytest.Config, workerinput: dict[str, object]) -> None:
    """Tell a worker the name and the start of the run."""
    name, started = run_id(config)
    workerinput[_INPUT] = [name, started.isoformat()]


def _new() -> tuple[str, datetime]:
    started = datetime.now(timezone.utc)
    return f"{started:%Y%m%dT%H%M%S}-{os.getpid()}", started
