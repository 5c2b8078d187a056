"""The index of a project's runs, `.puma/history.sqlite`, which lists and trends are read from.

It is a cache of `.puma/runs/*/run.json`, and may be deleted at any time: each use adds the runs that are new and
removes those that are gone. A run keeps its number, which `run.json` has too.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from typing import Any

from pytest_puma.codec.nouns import read
from pytest_puma.codec.plain import plain
from pytest_puma.core import DataError, Measure, Outcome, Run, Stamp
from pytest_puma.platform.files import PRIVATE, regular
from pytest_puma.platform.locks import is_locked, locked
from pytest_puma.platform.project_folder import project_folder, runs_of
from pytest_puma.runs.past_run import PastRun
from pytest_puma.runs.rows import MeasureRow, RunRow, State
from pytest_puma.runs.run_order import RECORD, oldest_first

NAME = "history.sqlite"
#: `number`: NULL for a damaged `run.json`. `row`: a `RunRow` as JSON, and the measures of a cell as deflated JSON.
_SCHEMA = """
CREATE TABLE run (name TEXT PRIMARY KEY, stamp TEXT, number INTEGER UNIQUE, row TEXT);
CREATE TABLE cell (cell TEXT, run INTEGER, row BLOB, PRIMARY KEY (cell, run));
"""
#: A file of another version is made again.
_VERSION = zlib.crc32(_SCHEMA.encode()) >> 1


class History:
    """The index of the project in a folder, brought up to date when it is opened.

    If it cannot be written, it is made `in_memory`, which takes seconds for 1,000 runs, or an `OSError` is raised.
    """

    def __init__(self, root: Path, *, in_memory: bool = True) -> None:
        self._runs = runs_of(root)
        try:
            self._connection = self._opened(project_folder(root))
        except (OSError, sqlite3.Error) as error:
            if not in_memory:
                msg = f"{NAME}: {error}"
                raise OSError(msg) from error
            self._connection = self._updated(":memory:", new=True)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def runs(self) -> list[RunRow]:
        """Return the finished runs, the newest first."""
        query = "SELECT row FROM run WHERE number IS NOT NULL ORDER BY number DESC"
        return [_run_row(text) for (text,) in self._connection.execute(query)]

    def unfinished(self) -> list[RunRow]:
        """Return the runs without a readable `run.json`, the newest first."""
        numbers = dict(self._connection.execute("SELECT name, number FROM run"))
        folders = sorted(filter(Path.is_dir, self._runs.glob("*")), reverse=True)
        return [
            RunRow(name=folder.name, state="damaged" if folder.name in numbers else _state(folder))
            for folder in folders
            if numbers.get(folder.name) is None
        ]

    def cells(self, run: int | None = None) -> list[str]:
        """Return the ids of all cells that ever ran, or of those of the run with this number."""
        query = "SELECT DISTINCT cell FROM cell WHERE run = coalesce(?, run) ORDER BY cell"
        return [cell for (cell,) in self._connection.execute(query, (run,))]

    def metrics(self, cell: str) -> list[str]:
        """Return the metrics of a cell in its newest run, the primary one first."""
        for _, row in self._rows(cell):
            return sorted(row["measures"], key=lambda name: (name != row["primary"], name))
        return []

    def trend(self, cell: str, metric: str, *, last: int) -> list[MeasureRow]:
        """Return a metric of a cell in the newest runs that measured it, the oldest first."""
        rows = (
            MeasureRow(run=_run_row(run), measure=read(Measure, row["measures"][metric]), signature=row["signature"])
            for run, row in self._rows(cell)
            if metric in row["measures"]
        )
        return [*islice(rows, last)][::-1]

    def _rows(self, cell: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the row of each run with a cell, and the measures of the cell; the newest run comes first."""
        query = "SELECT run.row, cell.row FROM cell JOIN run ON number = run WHERE cell = ? ORDER BY number DESC"
        for run, row in self._connection.execute(query, (cell,)):
            yield run, json.loads(zlib.decompress(row))

    # -- bringing up to date ---------------------------------------------------------------------

    def _opened(self, folder: Path) -> sqlite3.Connection:
        """Open the file in a folder `.puma`, made if it is missing, damaged or of another version."""
        path = regular(folder / NAME, links=False)
        with locked(folder):
            with suppress(sqlite3.DatabaseError):
                if path.is_file():
                    return self._updated(path, new=False)
            path.unlink(missing_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE))
            return self._updated(path, new=True)

    def _updated(self, path: Path | str, *, new: bool) -> sqlite3.Connection:
        connection = sqlite3.connect(path)
        try:
            if new:
                connection.executescript(f"{_SCHEMA} PRAGMA user_version = {_VERSION}")
            _check(connection)
            with connection:
                self._update(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _update(self, connection: sqlite3.Connection) -> None:
        """Remove the runs that are gone or written again, and add the new ones in the order in which they began."""
        stamps = dict(_stamps(self._runs))
        indexed = dict(connection.execute("SELECT name, stamp FROM run"))
        if stamps == indexed:
            return
        for name in [name for name, stamp in indexed.items() if stamps.get(name) != stamp]:
            connection.execute("DELETE FROM cell WHERE run = (SELECT number FROM run WHERE name = ?)", (name,))
            connection.execute("DELETE FROM run WHERE name = ?", (name,))
            del indexed[name]
        runs = {name: self._read(name) for name in stamps if name not in indexed}
        taken = {number for (number,) in connection.execute("SELECT number FROM run WHERE number IS NOT NULL")}
        numbers = _numbered({name: run.number for name, run in runs.items() if run is not None}, taken)
        for name, run in runs.items():
            number = numbers.get(name)
            row = None if run is None or number is None else json.dumps(plain(RunRow.of(name, number, run)))
            connection.execute("INSERT INTO run VALUES (?, ?, ?, ?)", (name, stamps[name], number, row))
            # Of several tests with one cell, the last one counts.
            cells = [(outcome.cell, number, _packed(outcome)) for outcome in (run.outcomes if run else ())]
            connection.executemany("INSERT OR REPLACE INTO cell VALUES (?, ?, ?)", cells)

    def _read(self, name: str) -> Run | None:
        with suppress(DataError):
            return PastRun(self._runs / name).run
        return None


def _check(connection: sqlite3.Connection) -> None:
    """Raise a `DatabaseError` for a file that is to be made again."""
    version, *_ = connection.execute("PRAGMA user_version").fetchone()
    if version != _VERSION or connection.execute("PRAGMA quick_check").fetchone() != ("ok",):
        msg = "damaged, or of another version"
        raise sqlite3.DatabaseError(msg)


def _numbered(given: Mapping[str, int | None], taken: set[int]) -> dict[str, int]:
    """Give each run its number: its own, or else the first free one after that of the run before it."""
    owned, before = {*given.values()}, max(taken, default=0)
    numbers: dict[str, int] = {}
    for name, number in given.items():
        free = (candidate for candidate in count(before + 1) if candidate not in taken and candidate not in owned)
        before = numbers[name] = next(free) if number is None or number in taken else number
        taken.add(before)
    return numbers


def _run_row(text: str) -> RunRow:
    return read(RunRow, json.loads(text))


def _packed(outcome: Outcome) -> bytes:
    row = {"primary": outcome.primary, "measures": outcome.measures, "signature": outcome.execution.signature}
    # Only the measures need a conversion: the rest is as `run.json` had it.
    return zlib.compress(json.dumps(row, default=plain).encode())


def _stamps(runs: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each run with a `run.json`, the oldest first, and what changes when that is written again."""
    for path in oldest_first(runs, RECORD):
        with suppress(FileNotFoundError):  # another process has removed it since it was listed
            yield path.parent.name, ":".join(map(str, Stamp.of(path.stat())))


def _state(folder: Path) -> State:
    with suppress(OSError):
        if is_locked(folder):
            return "running"
    return "cut off"
