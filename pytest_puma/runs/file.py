"""The file of the index, derived from the records of runs: it needs no migrations, and may be deleted at any time."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

from pytest_puma.platform.atomic import PRIVATE
from pytest_puma.platform.project_folder import project_folder
from pytest_puma.platform.regular_file import regular

NAME = "history.sqlite"
#: "pumh" in ASCII: `application_id` tells the file from any other SQLite file.
_APPLICATION = 0x70756D68
#: Seconds to wait for another process, which holds the file for milliseconds.
_PATIENCE = 10.0
_SCHEMA = """
CREATE TABLE run (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, started TEXT,
    seconds REAL, "commit" TEXT, branch TEXT, dirty INTEGER, ci TEXT, command TEXT, cells INTEGER, failed INTEGER,
    answers INTEGER, kept INTEGER
);
CREATE TABLE damaged (name TEXT PRIMARY KEY, stamp TEXT NOT NULL);
CREATE TABLE text (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE measure (
    run INTEGER NOT NULL, first INTEGER, cell INTEGER NOT NULL, metric INTEGER NOT NULL, better INTEGER, note INTEGER,
    verdicts INTEGER, signature INTEGER, value REAL, low REAL, high REAL, level REAL, n INTEGER,
    PRIMARY KEY (cell, metric, run)
) WITHOUT ROWID;
"""
#: A file with other tables is of another version.
_VERSION = crc32(_SCHEMA.encode()) >> 1
_TABLES = ("run", "damaged", "text", "measure")


def opened(root: Path, update: Callable[[sqlite3.Connection], None], *, in_memory: bool) -> sqlite3.Connection:
    """Open the index of a project and bring it up to date; make it again if it is damaged or of another version.

    If it cannot be written, or is a link or the file of another program, it is made `in_memory`, or an `OSError` is
    raised.
    """
    try:
        try:
            return _updated(root, update)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            return _anew(root, update)
    except (OSError, sqlite3.Error) as error:
        if not in_memory:
            raise OSError(str(error)) from error
        return _made_in_memory(update)


def made_again(root: Path, update: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    """Replace a file whose damage showed while it was read."""
    try:
        return _anew(root, update)
    except (OSError, sqlite3.Error):
        return _made_in_memory(update)


def _anew(root: Path, update: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    for suffix in ("-journal", ""):
        (project_folder(root) / f"{NAME}{suffix}").unlink(missing_ok=True)
    return _updated(root, update)


def _made_in_memory(update: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _create(connection)
    update(connection)
    return connection


def _updated(root: Path, update: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    path = regular(project_folder(root) / NAME, links=False)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE))
    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        _check(connection, path)
        _create(connection)
        update(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse the database of another program; earlier versions of this one gave it no id."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if application != _APPLICATION and (application or tables not in (set(), {*_TABLES})):
        raise OSError(errno.EINVAL, "a database of another program; remove it", str(path))


def _create(connection: sqlite3.Connection) -> None:
    """Create the tables; drop those of another version before."""
    if _is_current(connection):
        return
    with connection:
        connection.execute("BEGIN EXCLUSIVE")
        if _is_current(connection):  # another process was faster
            return
        for table in _TABLES:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in filter(str.strip, _SCHEMA.split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")


def _is_current(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA user_version").fetchone() == (_VERSION,))
