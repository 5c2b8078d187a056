"""Steps of the store's upkeep, in a process that ends without warning in the middle of one.

python -m tests.crash.steps create .puma/responses.sqlite 3
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pytest_puma.core import Generate, Message, Prompt, Response
from pytest_puma.responses import upkeep
from pytest_puma.responses.database import EngineRow, ResponseStore
from pytest_puma.responses.opening import Opened, open_to_write
from pytest_puma.responses.schema import create_tables


class Killer:
    """Kills this process at its call number `number`, from 0."""

    def __init__(self, number: int) -> None:
        self._left = number

    def __call__(self) -> None:
        """Count down."""
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1


def create(path: Path, killer: Killer) -> None:
    """Create the tables; killed after one of the statements."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.set_trace_callback(lambda _: killer())
    create_tables(connection, path)


def shrink(path: Path, killer: Killer) -> None:
    """Prune as much as possible; killed after a part of a cell, before the next statement."""
    before = [""]

    def trace(statement: str) -> None:
        if before[0].startswith("DELETE FROM response"):
            killer()
        before[0] = statement

    def open_traced(path: Path) -> Opened:
        opened = open_to_write(path)
        assert opened.connection is not None
        opened.connection.set_trace_callback(trace)
        return opened

    setattr(upkeep, "open_to_write", open_traced)  # noqa: B010 - no name that it exports
    upkeep.prune(path, 1)


def rename(path: Path, killer: Killer) -> None:
    """Set a damaged store aside; killed before one of the files is renamed."""
    sys.addaudithook(lambda event, _: killer() if event == "os.rename" else None)
    open_to_write(path)


def checkpoint(path: Path, killer: Killer) -> None:  # noqa: ARG001 - killed from outside
    """Fill the log with rows, say so, and move them into the file again and again."""
    connection = open_to_write(path).connection
    assert connection is not None
    connection.execute("PRAGMA wal_autocheckpoint=0")
    for number in range(1_000_000):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT INTO prompt(digest, body) VALUES (?, ?)",
            [(f"{number}.{row}".encode(), os.urandom(2000)) for row in range(200)],
        )
        connection.execute("COMMIT")
        print(number, flush=True)  # noqa: T201 - to the parent
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def join(path: Path, killer: Killer) -> None:  # noqa: ARG001 - never killed
    """Open the store at the moment that the parent names, and keep an answer of an own run."""
    print("ready", flush=True)  # noqa: T201 - to the parent
    moment = float(sys.stdin.readline())
    time.sleep(max(0, moment - time.time()))
    store = ResponseStore(path, run=str(os.getpid()))
    scope = store.scope("cell@", b"engine", EngineRow("5a", "m", {}, ()), {})
    request = Generate(prompt=Prompt(messages=(Message(role="user", content="?"),)), max_tokens=1)
    assert scope is not None, store.take_notes()
    store.keep(scope, b"", request.prompt, [(str(os.getpid()).encode(), request, Response(text="yes"))])
    print(*store.take_notes(), flush=True)  # noqa: T201 - to the parent


STEPS: dict[str, Callable[[Path, Killer], None]] = {
    each.__name__: each for each in (create, shrink, rename, checkpoint, join)
}

if __name__ == "__main__":
    STEPS[sys.argv[1]](Path(sys.argv[2]), Killer(int(sys.argv[3])))
