"""The file of a response store: its tables and their version, which files are refused, and where a damaged one goes."""

from __future__ import annotations

import errno
import os
import sqlite3
from itertools import count
from pathlib import Path

from pytest_puma.platform.files import regular
from pytest_puma.platform.project_folder import responses_of

#: Tells a store from any other SQLite file: "puma" in ASCII.
APPLICATION = 0x70756D61
VERSION = 2
#: SQLite's log and its shared memory beside the file.
WAL, SHM = "-wal", "-shm"

#: A column that files of earlier releases do not have. Their programs write rows without it, and so go on working.
_TOP = "top BLOB NOT NULL DEFAULT x''"
_TABLES = f"""
CREATE TABLE run(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, started TEXT NOT NULL);
CREATE TABLE engine(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, weights TEXT NOT NULL, model TEXT NOT NULL,
    signature TEXT NOT NULL, notes TEXT NOT NULL);
CREATE TABLE scope(id INTEGER PRIMARY KEY AUTOINCREMENT, cell TEXT NOT NULL, engine INTEGER NOT NULL REFERENCES engine,
    parts TEXT NOT NULL, used INTEGER NOT NULL, UNIQUE(cell, engine));
CREATE TABLE pass(scope INTEGER NOT NULL, company BLOB NOT NULL, responses INTEGER NOT NULL,
    PRIMARY KEY(scope, company)) WITHOUT ROWID;
CREATE TABLE prompt(digest BLOB PRIMARY KEY, base BLOB, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE response(id INTEGER PRIMARY KEY, scope INTEGER NOT NULL, request BLOB NOT NULL, company BLOB NOT NULL,
    run INTEGER NOT NULL, prompt BLOB, finish TEXT NOT NULL, text BLOB NOT NULL, packed INTEGER NOT NULL,
    logprobs BLOB NOT NULL, likelihoods BLOB NOT NULL, usage TEXT NOT NULL, row_check BLOB NOT NULL, {_TOP},
    UNIQUE(scope, request, company));
"""
_CREATE = f"BEGIN IMMEDIATE; {_TABLES} PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION}; COMMIT"


class UnusableError(Exception):
    """The file is no store of this version, as the message says. It is not touched."""

    @classmethod
    def foreign(cls, path: Path) -> UnusableError:
        """Return the error about the database of another program."""
        return cls(f"{path} is no response store, and is not touched; expected another puma_store_path")


def create_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Create all tables in an empty database, or none. Raises an `UnusableError`, and changes nothing then."""
    if not version_of(connection, path):
        connection.executescript(_CREATE)
    elif not _has_top(connection):
        connection.execute("BEGIN IMMEDIATE")
        # Another process may have added it in the meantime.
        connection.execute("ROLLBACK" if _has_top(connection) else f"ALTER TABLE response ADD COLUMN {_TOP}")
        if connection.in_transaction:
            connection.execute("COMMIT")


def complete_columns(connection: sqlite3.Connection) -> None:
    """Let queries of a file that is not written find all columns."""
    if not _has_top(connection):
        # It hides the table of the same name from this connection.
        connection.execute("CREATE TEMP VIEW response AS SELECT *, x'' AS top FROM main.response")


def _has_top(connection: sqlite3.Connection) -> bool:
    query = "SELECT count(*) FROM pragma_table_info('response') WHERE name = 'top'"
    return bool(connection.execute(query).fetchone()[0])


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of a database that this program can read, 0 if it is empty; else an `UnusableError`."""
    # One query, so that all three are of one moment: another process may create the tables in between.
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application != APPLICATION and (application or version or tables):
        raise UnusableError.foreign(path)
    if version not in {0, VERSION}:
        msg = f"{path} is from another version of pytest-puma, and is not touched"
        raise UnusableError(msg)
    return int(version)


def checked_path(path: Path) -> Path:
    """The path itself; an `OSError` refuses a folder, a pipe, and a link in a project's folder, which may be foreign.

    A link elsewhere is the wish of somebody who set `puma_store_path`.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return regular(path, links=not _is_default(path))


def _is_default(path: Path) -> bool:
    path = path.absolute()
    return path == responses_of(path.parent.parent)


def is_ours(path: Path) -> bool:
    """Whether a damaged file is a store: by its place, or by the `application_id` in its header.

    The file of a mistyped `puma_store_path` is none, and is never renamed.
    """
    try:
        with path.open("rb") as file:
            return _is_default(path) or file.read(72)[68:] == APPLICATION.to_bytes(4, "big")
    except FileNotFoundError:  # another process has set it aside in the meantime
        return True


def saving(path: Path | str) -> str:
    """How a user gets the answers of a damaged store back: by SQLite's own command."""
    return f"`sqlite3 {path} .recover` prints what can still be read"


def set_aside(path: Path) -> Path:
    """Rename a store with its log; return the new name."""
    names = (path.with_name(f"{path.stem}.damaged-{number}{path.suffix}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    # The store last: if this process is killed here, the next one goes on under the same name, and SQLite deletes a log
    # without its store.
    for suffix in (WAL, SHM, ""):
        file = path.with_name(path.name + suffix)
        if file.exists():
            file.rename(aside.with_name(aside.name + suffix))
    return aside
