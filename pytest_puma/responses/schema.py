"""The tables of the response store, and their versions.

Each step to a version is one transaction. `application_id` tells a store from any other SQLite file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from pytest_puma.responses.row import COLUMNS, check_of

#: "puma" in ASCII.
APPLICATION = 0x70756D61

_FIRST = """
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
    logprobs BLOB NOT NULL, likelihoods BLOB NOT NULL, usage TEXT NOT NULL, row_check BLOB NOT NULL,
    UNIQUE(scope, request, company));
"""

# Checksums of the first version cover a row without its cell and its engine. Only those that were right are replaced.
_BLOBS = ", ".join(f"CAST({name} AS BLOB)" for name in ("request", "company", *COLUMNS, "row_check"))
_SECOND = f"""
UPDATE response SET row_check = bound(
    (SELECT CAST(cell AS BLOB) FROM scope WHERE id = response.scope),
    (SELECT digest FROM engine WHERE id = (SELECT engine FROM scope WHERE id = response.scope)), {_BLOBS})
"""  # noqa: S608 - of our own names alone

#: The step to each version, from version 0, an empty file.
STEPS: Sequence[str] = (_FIRST, _SECOND)
VERSION = len(STEPS)


class NewerSchemaError(Exception):
    """The file was written by a newer version of pytest-puma."""


class ForeignFileError(Exception):
    """The file is a database of another program."""


def upgrade(connection: sqlite3.Connection, pause: Callable[[], None] = lambda: None) -> None:
    """Bring a database to this version; several processes may do it at once.

    `pause` is called between the statements, for tests that kill the process there. Raises a `NewerSchemaError` or a
    `ForeignFileError`, and changes nothing then.
    """
    if check(connection) == VERSION:
        return
    connection.create_function("bound", -1, _bound)
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in STEPS[check(connection) :]:
            for statement in step.split(";"):
                connection.execute(statement)
                pause()
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _bound(cell: bytes | None, engine: bytes | None, *row: bytes) -> bytes:
    """The checksum of a row with its cell and its engine; none that is ever right if the row is damaged."""
    *values, unbound = row
    return check_of(cell, engine, *values) if unbound == check_of(*values) else b""


def check(connection: sqlite3.Connection) -> int:
    """Return the version of a database that this program may read; 0 if it is empty."""
    # One query, so that all three are of one moment: another process may create the tables in between.
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application != APPLICATION and (application or version or tables):
        raise ForeignFileError
    if version > VERSION:
        raise NewerSchemaError(version)
    return int(version)
