"""The answers of several response stores in one: those of the parts of a run that several machines computed.

Ids are those of one file, so rows are found in another one by what they stand for. An answer that both files have stays
as it is in the one that is written.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.responses.file import StoreFile
from pytest_puma.responses.row import COLUMNS, sound_response

# Queries are put together from our own names and from placeholders alone.
#: The columns of an answer without the time and the tokens that it took.
_CONTENT = tuple(name for name in COLUMNS if name != "usage")
_INSERT_SCOPE = (
    "INSERT INTO scope(cell, engine, parts, used) VALUES (?, ?, ?, ?) "
    "ON CONFLICT(cell, engine) DO UPDATE SET used = max(used, excluded.used)"
)


@dataclass(slots=True, kw_only=True)
class Merged:
    """Counts of the answers of a file: `added`; `known`, which were there; `differing`: these with another content.

    `damaged`: those with a wrong checksum, which are left out.
    """

    added: int = 0
    known: int = 0
    differing: int = 0
    damaged: int = 0


def merge(path: Path, file: Path) -> Merged:
    """Add the answers of the response store `file` to that at `path`, in one transaction.

    A `DataError` if one of them cannot be read or written; what can be read of a damaged `file` is added anyway.
    """
    with closing(StoreFile(path)) as target, closing(StoreFile(file, readonly=True)) as source:
        merged = None
        if source.connection is not None and target.keeps:
            merged = target.write(lambda connection: _Merging(source, connection).merge())
        if merged is None or (notes := source.take_notes()):
            raise DataError("; ".join([*source.take_notes(), *target.take_notes()] if merged is None else notes))
        return merged


class _Merging:
    """One file that is read into another, whose transaction is open."""

    def __init__(self, source: StoreFile, target: sqlite3.Connection) -> None:
        self._source, self._target = source, target
        self._merged = Merged()

    def merge(self) -> Merged:
        runs = self._named("run", "name", "started")
        engines = self._named("engine", "digest", "weights", "model", "signature", "notes")
        for digest, base, body in self._source.rows("SELECT digest, base, body FROM prompt"):
            self._insert("prompt", digest=digest, base=base, body=body)
        query = "SELECT scope.id, cell, engine, parts, used, digest FROM scope JOIN engine ON engine.id = engine"
        for scope, cell, engine, parts, used, digest in self._source.rows(f"{query} ORDER BY scope.id"):
            self._target.execute(_INSERT_SCOPE, (cell, engines[engine], parts, runs.get(used, 0)))
            where = "WHERE cell = ? AND engine = ?"
            (number,) = self._target.execute(f"SELECT id FROM scope {where}", (cell, engines[engine])).fetchone()  # noqa: S608
            for company, responses in self._source.rows(
                "SELECT company, responses FROM pass WHERE scope = ?", (scope,)
            ):
                self._insert("pass", scope=number, company=company, responses=responses)
            self._answers(scope, number, (cell, digest), runs)
        return self._merged

    def _named(self, table: str, name: str, *others: str) -> dict[int, int]:
        """Add the rows of a table that have a unique name; return the id here of each id there."""
        ids: dict[int, int] = {}
        there = f"SELECT id, {', '.join((name, *others))} FROM {table} ORDER BY id"  # noqa: S608
        here = f"SELECT id FROM {table} WHERE {name} = ?"  # noqa: S608
        for number, *values in self._source.rows(there):
            self._insert(table, **dict(zip((name, *others), values, strict=True)))
            (ids[number],) = self._target.execute(here, values[:1]).fetchone()
        return ids

    def _answers(self, scope: int, number: int, owner: tuple[str, bytes], runs: dict[int, int]) -> None:
        """Add the answers of a scope, which has another `number` here."""
        columns = ("request", "company", *COLUMNS, "row_check")
        query = f"SELECT run, prompt, {', '.join(columns)} FROM response WHERE scope = ? ORDER BY id"  # noqa: S608
        for run, prompt, *row in self._source.rows(query, (scope,)):
            values = dict(zip(columns, row, strict=True))
            if sound_response(owner, tuple(row)) is None:
                self._merged.damaged += 1
            elif self._insert("response", scope=number, run=runs.get(run, 0), prompt=prompt, **values):
                self._merged.added += 1
            else:
                self._merged.known += 1
                self._merged.differing += self._differs(number, values)

    def _differs(self, scope: int, values: dict[str, Any]) -> bool:
        """Whether the answer of these keys that is here has another content."""
        query = f"SELECT {', '.join(_CONTENT)} FROM response WHERE scope = ? AND request = ? AND company = ?"  # noqa: S608
        here = self._target.execute(query, (scope, values["request"], values["company"])).fetchone()
        return bool(here != tuple(values[name] for name in _CONTENT))

    def _insert(self, table: str, **values: Any) -> bool:
        """Insert a row if there is none of its keys; return whether there was none. Names are our own."""
        insert = f"INSERT OR IGNORE INTO {table}({', '.join(values)}) VALUES ({', '.join('?' for _ in values)})"  # noqa: S608
        return bool(self._target.execute(insert, tuple(values.values())).rowcount)
