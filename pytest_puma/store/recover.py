"""The answers of a damaged response store that can still be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.store.opening import open_to_write
from pytest_puma.store.row import COLUMNS, check_of
from pytest_puma.store.upkeep import writable

_NAMES = ("scope", "run", "request", "company", "prompt", *COLUMNS, "row_check")
_SELECT = f"SELECT {', '.join(_NAMES)} FROM response WHERE id = ?"  # noqa: S608 - our own names
_INSERT = f"INSERT OR IGNORE INTO response({', '.join(_NAMES)}) VALUES ({', '.join('?' for _ in _NAMES)})"  # noqa: S608
_ENGINE = "INSERT OR IGNORE INTO engine(digest, weights, model, signature, notes) VALUES (?, ?, ?, ?, ?)"
_SCOPE = "INSERT OR IGNORE INTO scope(cell, engine, parts, used) VALUES (?, ?, ?, 0)"


def recover(damaged: Path, target: Path) -> tuple[int, int]:
    """Copy every readable answer with a correct checksum into a store; return the numbers of copied and of lost ones.

    Answers that the store has already stay. A `DataError` if nothing can be read.
    """
    if not damaged.is_file():
        msg = f"{damaged}: found no file; expected a damaged response store, such as responses.damaged-1.sqlite"
        raise DataError(msg)
    with closing(sqlite3.connect(damaged, isolation_level=None)) as old:
        try:
            (last,) = old.execute("SELECT max(id) FROM response").fetchone()
        except sqlite3.DatabaseError as error:
            msg = f"{damaged}: nothing can be read ({error})"
            raise DataError(msg) from error
        with closing(writable(open_to_write(target))) as new:
            new.execute("BEGIN IMMEDIATE")
            numbers = _copy(old, new, last or 0)
            new.execute("COMMIT")
    return numbers


def _copy(old: sqlite3.Connection, new: sqlite3.Connection, last: int) -> tuple[int, int]:
    """Copy answer by answer: one damaged page must not end the search."""
    runs, scopes = _runs(old, new), _scopes(old, new)
    for row in _readable(old, "SELECT digest, base, body FROM prompt"):
        new.execute("INSERT OR IGNORE INTO prompt(digest, base, body) VALUES (?, ?, ?)", row)
    copied = lost = 0
    for number in range(1, last + 1):
        with suppress(sqlite3.DatabaseError):
            row = old.execute(_SELECT, (number,)).fetchone()
            if row is None:
                continue
            scope, run, request, company, prompt, *values, check = row
            if check == check_of(request, company, tuple(values)) and scope in scopes:
                new.execute(_INSERT, (scopes[scope], runs.get(run, 0), request, company, prompt, *values, check))
                copied += 1
                continue
        lost += 1
    return copied, lost


def _runs(old: sqlite3.Connection, new: sqlite3.Connection) -> Mapping[int, int]:
    """The ids of the runs in the new store, by those in the old one."""
    ids = {}
    for number, *row in _readable(old, "SELECT id, name, started FROM run"):
        new.execute("INSERT OR IGNORE INTO run(name, started) VALUES (?, ?)", row)
        (ids[number],) = new.execute("SELECT id FROM run WHERE name = ?", row[:1]).fetchone()
    return ids


def _scopes(old: sqlite3.Connection, new: sqlite3.Connection) -> Mapping[int, int]:
    """The ids of the scopes in the new store, by those in the old one."""
    engines, ids = {}, {}
    for number, *row in _readable(old, "SELECT id, digest, weights, model, signature, notes FROM engine"):
        new.execute(_ENGINE, row)
        (engines[number],) = new.execute("SELECT id FROM engine WHERE digest = ?", row[:1]).fetchone()
    for number, cell, engine, parts in _readable(old, "SELECT id, cell, engine, parts FROM scope"):
        if engine in engines:
            new.execute(_SCOPE, (cell, engines[engine], parts))
            key = cell, engines[engine]
            (ids[number],) = new.execute("SELECT id FROM scope WHERE cell = ? AND engine = ?", key).fetchone()
    return ids


def _readable(connection: sqlite3.Connection, query: str) -> Sequence[Any]:
    """The rows up to the first damaged page."""
    rows: list[Any] = []
    with suppress(sqlite3.DatabaseError):
        rows.extend(connection.execute(query))
    return rows
