"""The answers of a damaged response store that can still be read.

Whatever is damaged, also the header: each page is read on its own. An answer is saved if its checksum is right, and if
the cell and the engine that it belongs to can be read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from pytest_puma.core import DataError
from pytest_puma.responses.opening import open_to_write
from pytest_puma.responses.pages import Record, records
from pytest_puma.responses.row import COLUMNS, check_of
from pytest_puma.responses.upkeep import writable

_NAMES = ("scope", "run", "request", "company", "prompt", *COLUMNS, "row_check")
_RESPONSE = f"INSERT OR IGNORE INTO response({', '.join(_NAMES)}) VALUES ({', '.join('?' for _ in _NAMES)})"  # noqa: S608
_RUN = "INSERT OR IGNORE INTO run(name, started) VALUES (?, ?)"
_ENGINE = "INSERT OR IGNORE INTO engine(digest, weights, model, signature, notes) VALUES (?, ?, ?, ?, ?)"
_SCOPE = "INSERT OR IGNORE INTO scope(cell, engine, parts, used) VALUES (?, ?, ?, 0)"
_PROMPT = "INSERT OR IGNORE INTO prompt(digest, base, body) VALUES (?, ?, ?)"
_FINISHED = "INSERT OR IGNORE INTO pass(scope, company, responses) VALUES (?, ?, ?)"
_Types: TypeAlias = "tuple[type | tuple[type, ...], ...]"
_Rows: TypeAlias = "dict[str, dict[int, tuple[Any, ...]]]"
#: The id of a scope in the new store, its cell, and the key of its engine.
_Scopes: TypeAlias = "Mapping[int, tuple[int, str, bytes]]"
_NONE = type(None)
#: The types of the columns of each table. That of its id is empty, as the id is beside the record.
_TABLES: Mapping[str, _Types] = {
    "run": (_NONE, str, str),
    "engine": (_NONE, bytes, str, str, str, str),
    "scope": (_NONE, str, int, str, int),
    "response": (_NONE, int, bytes, bytes, int, (bytes, _NONE), str, bytes, int, bytes, bytes, str, bytes),
}
#: The same of tables without ids; `request` is the index of the answers, by their requests.
_INDICES: Mapping[str, _Types] = {
    "prompt": (bytes, (bytes, _NONE), bytes),
    "pass": (int, bytes, int),
    "request": (int, bytes, bytes, int),
}


def recover(damaged: Path, target: Path) -> tuple[int, int]:
    """Copy every readable answer with a correct checksum into a store; return the numbers of copied and of lost ones.

    Answers that the store has already stay. The number of lost ones is that of the traces they left: it is not exact. A
    `DataError` if there is no trace of any answer.
    """
    if not damaged.is_file():
        msg = f"{damaged}: found no file; expected a damaged response store, such as responses.damaged-1.sqlite"
        raise DataError(msg)
    if target.exists() and damaged.samefile(target):
        msg = f"{damaged} is the store itself; expected another one: rename it first"
        raise DataError(msg)
    heads: _Rows = {"run": {}, "engine": {}, "scope": {}}
    answers = 0
    for table, record in _rows(damaged):
        if table in heads and record.id is not None:
            heads[table][record.id] = record.values
        answers += table in {"response", "request"}
    if not answers:
        msg = f"{damaged}: nothing can be read: there is no page with answers"
        raise DataError(msg)
    with closing(writable(open_to_write(target))) as new:
        try:
            new.execute("BEGIN IMMEDIATE")
            numbers = _copy(damaged, new, _runs(heads, new), _scopes(heads, new))
            new.execute("COMMIT")
        except sqlite3.Error as error:
            msg = f"{target} cannot be written: {error}"
            raise DataError(msg) from error
    return numbers


def _rows(damaged: Path) -> Iterator[tuple[str, Record]]:
    """Yield the records of our tables, each with the name of its table."""
    for record in records(damaged):
        for table, types in (_INDICES if record.id is None else _TABLES).items():
            if len(types) == len(record.values) and all(map(isinstance, record.values, types)):
                yield table, record


def _copy(damaged: Path, new: sqlite3.Connection, runs: Mapping[int, int], scopes: _Scopes) -> tuple[int, int]:
    """Copy the answers, their prompts and passes; `runs`, `scopes`: their ids in the new store, by those in the old."""
    copied, named = set[int](), list[tuple[int, int]]()
    ids = set[int | None]()
    broken = 0
    for table, record in _rows(damaged):
        values = record.values
        if table == "prompt":
            new.execute(_PROMPT, values)
        elif table == "pass" and values[0] in scopes:
            new.execute(_FINISHED, (scopes[values[0]][0], *values[1:]))
        elif table == "request" and values[0] in scopes:
            named.append((hash(values[:3]), values[3]))
        elif table == "response":
            row = _sound_row(values[1:], runs, scopes)
            if row is None:
                broken += 1
            else:
                new.execute(_RESPONSE, row)
                ids.add(record.id)
                copied.add(hash(values[1:4]))
    # A damaged page may have changed the id of an answer, or its request in the index.
    missing = sum(key not in copied and number not in ids for key, number in named)
    return len(copied), max(missing, broken)


def _sound_row(values: tuple[Any, ...], runs: Mapping[int, int], scopes: _Scopes) -> tuple[Any, ...] | None:
    """The row of an answer in the new store; None if its checksum is wrong, or if its cell cannot be read."""
    scope, request, company, run, prompt, *content, check = values
    if scope not in scopes:
        return None
    number, *owner = scopes[scope]
    sound, unbound = (check_of(*names, request, company, *content) for names in (owner, ()))
    # Stores of the first version have checksums without the cell and the engine.
    return (number, runs.get(run, 0), request, company, prompt, *content, sound) if check in {sound, unbound} else None


def _runs(heads: _Rows, new: sqlite3.Connection) -> Mapping[int, int]:
    """The ids of the runs in the new store, by those in the old one."""
    ids = {}
    for number, (_, name, started) in sorted(heads["run"].items()):
        new.execute(_RUN, (name, started))
        (ids[number],) = new.execute("SELECT id FROM run WHERE name = ?", (name,)).fetchone()
    return ids


def _scopes(heads: _Rows, new: sqlite3.Connection) -> _Scopes:
    """The scopes by their ids in the old store."""
    engines, scopes = {}, {}
    for number, (_, digest, weights, model, signature, notes) in heads["engine"].items():
        new.execute(_ENGINE, (digest, weights, model, _sound(signature, "{}"), _sound(notes, "[]")))
        (engines[number],) = new.execute("SELECT id FROM engine WHERE digest = ?", (digest,)).fetchone()
    for number, (_, cell, engine, parts, _) in sorted(heads["scope"].items()):
        if engine in engines:
            new.execute(_SCOPE, (cell, engines[engine], _sound(parts, "{}")))
            key = cell, engines[engine]
            (new_id,) = new.execute("SELECT id FROM scope WHERE cell = ? AND engine = ?", key).fetchone()
            scopes[number] = new_id, cell, heads["engine"][engine][1]
    return scopes


def _sound(text: str, default: str) -> str:
    """The text if it is JSON: these columns have no checksum, and only tell why an answer fits or not."""
    try:
        json.loads(text)
    except ValueError:
        return default
    return text
