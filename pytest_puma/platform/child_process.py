"""Run a program of this package in a child process, so that a crash of a library does not end pytest."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path


def run_program(program: Path, argument: str | Path, *, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a program in this interpreter; `sys.argv` has the argument, then the module path of this process.

    Raises a `subprocess.TimeoutExpired`.
    """
    return subprocess.run(  # noqa: S603 - a program of this package, in this interpreter
        [sys.executable, "-I", program, argument, *sys.path],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        check=False,
        # Without it, llama.cpp starts a debugger before it aborts.
        env={**os.environ, "GGML_NO_BACKTRACE": "1"},
    )


def signal_name(number: int) -> str:
    """Return `SIGKILL`, or `signal 99` for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
