"""The index of a project's runs, `.puma/history.sqlite`, which lists and trends are read from.

It is derived from `.puma/runs/*/run.json`: each use adds the runs that are new and removes those that are gone. A run
keeps its number, which `run.json` has too.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError, Measure, Outcome, Run, Stamp
from pytest_puma.platform.locks import is_locked
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.columns import MEASURE, RUN, measure_row, null, run_row
from pytest_puma.runs.file import made_again, opened
from pytest_puma.runs.past_run import read_run
from pytest_puma.runs.rows import MeasureRow, RunRow, State
from pytest_puma.runs.run_folder import RECORD
from pytest_puma.runs.run_order import oldest_first

_TEXT = "SELECT id FROM text WHERE text = ?"


class History:
    """The index of the project in a folder, brought up to date when it is opened.

    If it cannot be written, it is made `in_memory`, which takes seconds for 1,000 runs, or an `OSError` is raised.
    """

    def __init__(self, root: Path, *, in_memory: bool = True) -> None:
        self._root, self._runs = root, runs_of(root)
        self._texts: dict[str, int] = {}
        self._connection = opened(root, self._update, in_memory=in_memory)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def runs(self) -> list[RunRow]:
        """Return the finished runs, the newest first."""
        return [run_row(row) for row in self._fetch(f"SELECT {RUN} FROM run ORDER BY number DESC")]  # noqa: S608

    def unfinished(self) -> list[RunRow]:
        """Return the runs without a readable `run.json`, the newest first."""
        damaged = {name for (name,) in self._fetch("SELECT name FROM damaged")}
        finished = {name for (name,) in self._fetch("SELECT name FROM run")}
        folders = [each for each in _folders(self._runs) if each.name not in finished]
        rows = [RunRow(name=each.name, state="damaged" if each.name in damaged else _state(each)) for each in folders]
        return sorted(rows, key=lambda row: row.name, reverse=True)

    def cells(self) -> list[str]:
        """Return the ids of all cells that ever ran."""
        query = "SELECT text FROM text WHERE id IN (SELECT DISTINCT cell FROM measure) ORDER BY text"
        return [cell for (cell,) in self._fetch(query)]

    def cells_of(self, run: int | None) -> list[str]:
        """Return the cells of the run with this number; none of a run without one."""
        query = "SELECT text FROM text WHERE id IN (SELECT DISTINCT cell FROM measure WHERE run = ?) ORDER BY text"
        return [cell for (cell,) in self._fetch(query, run)]

    def metrics(self, cell: str) -> list[str]:
        """Return the metrics of a cell, the primary one of its newest run first."""
        query = (
            "SELECT text.text FROM measure JOIN text ON text.id = metric "
            "WHERE cell = (SELECT id FROM text WHERE text = ?) "
            "GROUP BY metric ORDER BY max(first * run) DESC, text.text"
        )
        return [metric for (metric,) in self._fetch(query, cell)]

    def trend(self, cell: str, metric: str, *, last: int) -> list[MeasureRow]:
        """Return a metric of a cell in the newest runs that measured it, the oldest first."""
        query = (
            f"SELECT {MEASURE}, {RUN} FROM measure JOIN run ON number = measure.run "  # noqa: S608
            "WHERE cell = (SELECT id FROM text WHERE text = ?) AND metric = (SELECT id FROM text WHERE text = ?) "
            "ORDER BY number DESC LIMIT ?"
        )
        return [measure_row(cell, metric, row) for row in reversed(self._fetch(query, cell, metric, last))]

    def number_of(self, name: str) -> int | None:
        """Return the number of a finished run."""
        rows = self._fetch("SELECT number FROM run WHERE name = ?", name)
        return int(rows[0][0]) if rows else None

    def _fetch(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows; a file whose damage shows only now is made again."""
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError:
            self._connection.close()
            self._connection = made_again(self._root, self._update)
            return self._connection.execute(query, values).fetchall()

    # -- bringing up to date ---------------------------------------------------------------------

    def _update(self, connection: sqlite3.Connection) -> None:
        self._connection, self._texts = connection, {}
        stamps = dict(_stamps(self._runs))
        if stamps == self._indexed():
            return
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            # Another process may have been faster.
            indexed = self._indexed()
            self._remove([name for name in indexed if name not in stamps])
            self._add([name for name, stamp in stamps.items() if indexed.get(name) != stamp], stamps)

    def _indexed(self) -> dict[str, str]:
        """Return the stamp of each run in the index."""
        return dict(self._connection.execute("SELECT name, stamp FROM run UNION ALL SELECT name, stamp FROM damaged"))

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            self._connection.execute("DELETE FROM measure WHERE run = (SELECT number FROM run WHERE name = ?)", (name,))
            self._connection.execute("DELETE FROM run WHERE name = ?", (name,))
            self._connection.execute("DELETE FROM damaged WHERE name = ?", (name,))

    def _add(self, names: Iterable[str], stamps: Mapping[str, str]) -> None:
        """Add runs in the order in which they began."""
        numbers = dict(self._connection.execute("SELECT name, number FROM run"))
        self._remove(names)
        added = set(names)
        began = [name for path in oldest_first(self._runs, RECORD) if (name := path.parent.name) in added]
        runs = {name: run for name in began if (run := self._read(name)) is not None}
        damaged = [(name, stamps[name]) for name in began if name not in runs]
        self._connection.executemany("INSERT INTO damaged VALUES (?, ?)", damaged)
        given = {name: numbers.get(name, run.number) for name, run in runs.items()}
        for name, number in self._numbered(given):
            self._insert(number, name, stamps[name], runs[name])

    def _read(self, name: str) -> Run | None:
        with suppress(DataError):
            return read_run(self._runs / name)
        return None

    def _numbered(self, given: Mapping[str, int | None]) -> Iterator[tuple[str, int]]:
        """Give each run its number: its own, or else the first free one after that of the run before it."""
        taken = {number for (number,) in self._connection.execute("SELECT number FROM run")}
        before = max(taken, default=0)
        own: dict[int, str] = {}
        for name, number in given.items():
            if number is not None and number not in taken:
                own.setdefault(number, name)
        numbers = {name: number for number, name in own.items()}
        taken |= own.keys()
        for name in given:
            number = numbers.get(name, before + 1)
            while name not in numbers and number in taken:
                number += 1
            taken.add(number)
            before = number
            yield name, number

    def _insert(self, number: int, name: str, stamp: str, run: Run) -> None:
        invocation, outcomes = run.invocation, run.outcomes
        values = (
            *(number, name, stamp, run.started, null(run.seconds), invocation.commit, invocation.branch),
            *(invocation.dirty, invocation.ci, invocation.command, len(outcomes)),
            len({each.node_id for each in outcomes if each.failed} | {fault.node_id for fault in run.faults}),
            sum(outcome.trials for outcome in outcomes),
            sum(outcome.kept.kept for outcome in outcomes if outcome.kept is not None),
        )
        self._connection.execute(f"INSERT INTO run VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608
        # Of several tests with one cell, the last one counts.
        for outcome in outcomes:
            signature = self._text(json.dumps(outcome.signature, sort_keys=True))
            rows = [self._row(number, outcome, each, signature) for each in outcome.measures.values()]
            self._connection.executemany(f"INSERT OR REPLACE INTO measure VALUES ({', '.join('?' * 13)})", rows)  # noqa: S608

    def _row(self, number: int, outcome: Outcome, measure: Measure, signature: int) -> tuple[Any, ...]:
        statuses = [verdict.status for verdict in outcome.verdicts if verdict.gate.metric == measure.metric]
        texts = (outcome.cell, measure.metric, measure.better, measure.note, ";".join(statuses))
        numbers = (null(measure.value), null(measure.low), null(measure.high), measure.level, measure.n)
        return (number, measure.metric == outcome.primary, *map(self._text, texts), signature, *numbers)

    def _text(self, text: str) -> int:
        """Return the number of a text: names, notes and signatures are the same in most runs."""
        if text not in self._texts:
            self._connection.execute("INSERT OR IGNORE INTO text (text) VALUES (?)", (text,))
            (self._texts[text],) = self._connection.execute(_TEXT, (text,)).fetchone()
        return self._texts[text]


def _folders(runs: Path) -> list[os.DirEntry[str]]:
    try:
        with closing(os.scandir(runs)) as entries:
            return [entry for entry in entries if entry.is_dir()]
    except OSError:
        return []


def _stamps(runs: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each run with a `run.json`, and what changes when that is written again."""
    for entry in _folders(runs):
        with suppress(OSError):
            status = os.stat(f"{entry.path}/{RECORD}")  # noqa: PTH116 - a Path for each of 1,000 runs takes longer
            yield entry.name, ":".join(map(str, Stamp.of(status)))


def _state(folder: os.DirEntry[str]) -> State:
    with suppress(OSError):
        if is_locked(Path(folder.path)):
            return "running"
    return "cut off"
