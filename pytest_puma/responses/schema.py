"""The tables of the response store, and their version. `application_id` tells a store from any other SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

#: "puma" in ASCII.
APPLICATION = 0x70756D61
VERSION = 2

_TABLES = """
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


class OtherVersionError(Exception):
    """The file was written by a version of pytest-puma with other tables."""


class ForeignFileError(Exception):
    """The file is a database of another program."""


def create_tables(connection: sqlite3.Connection, pause: Callable[[], None] = lambda: None) -> None:
    """Create the tables in an empty database; several processes may do it at once.

    `pause` is called between the statements, for tests that kill the process there. Raises an `OtherVersionError` or a
    `ForeignFileError`, and changes nothing then.
    """
    if check(connection) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not check(connection):
            for statement in _TABLES.split(";"):
                connection.execute(statement)
                pause()
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check(connection: sqlite3.Connection) -> int:
    """Return the version of a database that this program can read; 0 if it is empty."""
    # One query, so that all three are of one moment: another process may create the tables in between.
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application != APPLICATION and (application or version or tables):
        raise ForeignFileError
    if version not in {0, VERSION}:
        raise OtherVersionError(version)
    return int(version)
