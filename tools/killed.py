"""A run of pytest that is killed in the middle: `kill -9`, as soon as its response store has enough answers."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryFile

_PAUSE = 0.005  # seconds between two looks at the store


class NotKilledError(Exception):
    """The run ended before its store had enough answers."""


def kill_at(answers: int, command: Sequence[str], *, store: Path, cwd: Path, env: Mapping[str, str]) -> int:
    """Run a command and kill its processes once the store has `answers` answers; return how many it has after that.

    Raises a `NotKilledError` with the output of a command that ends before.
    """
    with TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(  # noqa: S603 - a command of our own
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        while process.poll() is None and kept(store) < answers:
            time.sleep(_PAUSE)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.wait() != -signal.SIGKILL:
            output.seek(0)
            ended = f"exit status {process.returncode} with {kept(store)} kept answers"
            msg = f"found {ended}; expected {answers} and more to come\n{output.read()}"
            raise NotKilledError(msg)
    return kept(store)


def kept(store: Path) -> int:
    """Return the number of answers in a store; 0 if it does not exist yet."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store, timeout=30)) as connection, suppress(sqlite3.OperationalError):
        return int(connection.execute("SELECT count(*) FROM response").fetchone()[0])
    return 0
