"""Upkeep of the response store: its size, its end of a run, and what a damaged file still has.

Whole scopes are removed, those that were used longest ago first, but never those of the last two runs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.core import DataError
from pytest_puma.store.opening import Opened, open_to_read, open_to_write
from pytest_puma.store.row import COLUMNS, check_of

#: Answers that are removed in one transaction, so that other processes never wait long.
_CHUNK = 1000
_KEPT_RUNS = 2
_OTHERS = (
    "INSERT OR IGNORE INTO {new}.run SELECT * FROM run",
    "INSERT OR IGNORE INTO {new}.engine SELECT * FROM engine",
    "INSERT OR IGNORE INTO {new}.scope SELECT * FROM scope",
    "INSERT OR IGNORE INTO {new}.prompt SELECT * FROM prompt",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """The number of removed answers and cells, and the size of the file after that, in bytes."""

    answers: int
    cells: int
    size: int


def finish_run(path: Path, megabytes: int) -> Pruned | None:
    """End a run: prune a store that is too large, and make it one file that can be copied; None if nothing was pruned.

    A store that another process writes to is left as it is.
    """
    if not path.is_file():
        return None
    pruned = prune(path, megabytes * 2**20) if path.stat().st_size > megabytes * 2**20 else None
    connection = open_to_write(path).connection
    if connection is not None:
        with closing(connection), suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return pruned


def prune(path: Path, size: int, *, pause: Callable[[], None] = lambda: None) -> Pruned:
    """Remove the answers that were used longest ago until the file has at most `size` bytes.

    `pause` is called between the transactions, for tests that kill the process there.
    """
    connection = _opened(open_to_write(path))
    answers = cells = 0
    with closing(connection):
        for scope in _oldest(connection):
            if _used(connection) <= size:
                break
            answers += sum(_remove(connection, scope, pause))
            cells += 1
        _drop_loose_prompts(connection)
        connection.execute("PRAGMA incremental_vacuum").fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return Pruned(answers=answers, cells=cells, size=path.stat().st_size)


def recover(damaged: Path, target: Path) -> tuple[int, int]:
    """Copy every readable answer with a correct checksum into a store; return the numbers of copied and of lost ones.

    The store may have answers already; these stay. A `DataError` if nothing can be read.
    """
    if not damaged.is_file():
        msg = f"{damaged}: found no file; expected a damaged response store, such as responses.damaged-1.sqlite"
        raise DataError(msg)
    with closing(_opened(open_to_write(target))):
        pass
    with closing(sqlite3.connect(damaged, isolation_level=None)) as connection:
        try:
            connection.execute("ATTACH ? AS new", (str(target),))
            (last,) = connection.execute("SELECT max(id) FROM main.response").fetchone()
        except sqlite3.DatabaseError as error:
            msg = f"{damaged}: nothing can be read ({error})"
            raise DataError(msg) from error
        return _copy(connection, last or 0)


def _opened(opened: Opened) -> sqlite3.Connection:
    if opened.connection is None or not opened.writable:
        if opened.connection is not None:
            opened.connection.close()
        raise DataError(opened.note)
    return opened.connection


def _oldest(connection: sqlite3.Connection) -> list[int]:
    """The scopes that may be removed, those that were used longest ago first."""
    kept = "(SELECT id FROM run ORDER BY id DESC LIMIT ?)"
    query = f"SELECT id FROM scope WHERE used NOT IN {kept} ORDER BY used, id"  # noqa: S608
    return [scope for (scope,) in connection.execute(query, (_KEPT_RUNS,)).fetchall()]


def _used(connection: sqlite3.Connection) -> int:
    """The bytes of the file without its free pages."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _remove(connection: sqlite3.Connection, scope: int, pause: Callable[[], None]) -> Iterator[int]:
    """Remove a scope in chunks; yield the number of answers of each."""
    connection.execute("DELETE FROM pass WHERE scope = ?", (scope,))
    some = "SELECT id FROM response WHERE scope = ? LIMIT ?"
    while removed := connection.execute(
        f"DELETE FROM response WHERE id IN ({some})",  # noqa: S608
        (scope, _CHUNK),
    ).rowcount:
        yield removed
        pause()
    connection.execute("DELETE FROM scope WHERE id = ?", (scope,))


def _drop_loose_prompts(connection: sqlite3.Connection) -> None:
    """Remove the prompts that no answer and no other prompt needs."""
    needed = "SELECT prompt FROM response WHERE prompt IS NOT NULL"
    connection.execute(
        f"DELETE FROM prompt WHERE digest NOT IN ({needed}) AND digest NOT IN "  # noqa: S608
        f"(SELECT base FROM prompt WHERE base IS NOT NULL AND digest IN ({needed}))"
    )
    connection.execute("DELETE FROM engine WHERE id NOT IN (SELECT engine FROM scope)")


def _copy(connection: sqlite3.Connection, last: int) -> tuple[int, int]:
    """Copy row by row: one damaged page must not stop the search."""
    for statement in _OTHERS:
        with suppress(sqlite3.DatabaseError):
            connection.execute(statement.format(new="new"))
    names = ("scope", "request", "company", "run", "prompt", *COLUMNS, "row_check")
    select = f"SELECT {', '.join(names)} FROM main.response WHERE id = ?"  # noqa: S608
    insert = f"INSERT OR IGNORE INTO new.response({', '.join(names)}) VALUES ({', '.join('?' for _ in names)})"  # noqa: S608
    copied = lost = 0
    for number in range(1, last + 1):
        try:
            row = connection.execute(select, (number,)).fetchone()
        except sqlite3.DatabaseError:
            lost += 1
            continue
        if row is None:
            continue
        if row[-1] == check_of(row[1], row[2], tuple(row[5:-1])):
            connection.execute(insert, row)
            copied += 1
        else:
            lost += 1
    return copied, lost
