"""Runs of pytest in any folder: for fixtures of a module, which have no `pytester`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ADDOPTS


def run_pytest(folder: Path, *arguments: str) -> str:
    """Run pytest in a process of its own, which must succeed; return what it prints."""
    command = [sys.executable, "-m", "pytest", *ADDOPTS.split(), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
