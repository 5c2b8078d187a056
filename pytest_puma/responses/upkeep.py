"""The contents of a response store, to look at; and its upkeep: its size, and its end of a run.

The top tokens of scores are removed first, then whole scopes, those that were used longest ago first, but never those
of the last two runs.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_puma.codec.plain import plain
from pytest_puma.core import CellId, DataError
from pytest_puma.platform.json_text import parse_foreign_json
from pytest_puma.responses.database import WINDOW, ResponseStore, Scope
from pytest_puma.responses.opening import open_to_write
from pytest_puma.responses.row import COLUMNS, inflated, sound_response

#: Stands for all cells, which share the strict answers of a model.
_STRICT = "strict"
#: Answers that are removed in one transaction, so that other processes never wait long.
_CHUNK = 1000
_KEPT_RUNS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCell:
    """The kept answers of a cell by one engine; `run`: the last one that used them.

    Strict answers belong to all cells: their cell is `strict@model`.
    """

    cell: CellId
    scope: Scope
    answers: int
    run: str


def runs(store: ResponseStore) -> int:
    """Return the number of runs with kept answers."""
    return len(store.rows("SELECT DISTINCT run FROM response"))


def cells(store: ResponseStore) -> list[KeptCell]:
    """Return all cells, those that were used last first."""
    counts = "SELECT scope.id, run.name, count(response.id) FROM scope LEFT JOIN run ON run.id = scope.used "
    rows = store.rows(f"{counts} LEFT JOIN response ON response.scope = scope.id GROUP BY scope.id")
    used = {number: (run or "unknown", answers) for number, run, answers in rows}
    scopes = [(scope, *used.get(store.number(scope), ("unknown", 0))) for scope in store.scopes()]
    return [
        KeptCell(cell=_cell(scope.cell, scope.engine.model), scope=scope, answers=answers, run=run)
        for scope, run, answers in scopes
    ]


def lines(store: ResponseStore) -> Iterator[str]:
    """Yield each answer as a line of JSON, with its prompt if that is kept, in the order in which they were kept."""
    query = (
        f"SELECT cell, digest, model, weights, run.name, prompt, request, company, {', '.join(COLUMNS)}, row_check "  # noqa: S608
        "FROM response JOIN scope ON scope.id = response.scope JOIN engine ON engine.id = engine "
        "LEFT JOIN run ON run.id = response.run ORDER BY response.id"
    )
    for cell, key, model, weights, run, prompt, *row in store.rows(query):
        response = sound_response((cell, key), tuple(row))
        if response is None:
            continue
        yield json.dumps(
            {
                "cell": _cell(cell, model).common_name,
                "weights": weights,
                "run": run,
                "request": row[0].hex(),
                "prompt": None if prompt is None else _prompt(store, prompt),
                "response": plain(response),
            },
            ensure_ascii=False,
        )


def _cell(name: str, model: str) -> CellId:
    return replace(CellId.parse(name or _STRICT), model=model)


def _prompt(store: ResponseStore, digest: bytes) -> Any:
    """A prompt as it was kept: its messages and its prefill; None if it is lost."""
    rows = store.rows("SELECT base, body FROM prompt WHERE digest = ?", (digest,))
    if not rows:
        return None
    base, body = rows[0]
    bases = [] if base is None else store.rows("SELECT body FROM prompt WHERE digest = ?", (base,))
    try:
        dictionary = b"".join(inflated(beginning)[-WINDOW:] for (beginning,) in bases)
        return parse_foreign_json(inflated(body, dictionary))
    except (TypeError, ValueError, zlib.error):
        return None


# -- upkeep ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedStore:
    """The number of removed answers and cells, and the size of the file after that, in bytes."""

    answers: int
    cells: int
    size: int


def finish_run(path: Path, megabytes: int) -> PrunedStore | None:
    """End a run: prune a store that is too large, and make it one file that can be copied; None if nothing was pruned.

    A store that another process writes to is left as it is.
    """
    if not path.is_file():
        return None
    if path.stat().st_size > megabytes * 2**20:
        return prune(path, megabytes * 2**20)
    connection = open_to_write(path).connection
    if connection is not None:
        with closing(connection), suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return None


def prune(path: Path, size: int) -> PrunedStore:
    """Remove the answers that were used longest ago until the file has at most `size` bytes."""
    opened = open_to_write(path)
    if opened.connection is None:
        raise DataError(opened.note)
    cells = 0
    with closing(opened.connection) as connection:
        if not opened.writable:
            raise DataError(opened.note)
        oldest = _oldest(connection)
        # They are large, and one pass over the answers computes them again.
        large = (scope for scope in oldest if _used(connection) > size)
        answers = sum(_delete(connection, "scope = ? AND top != x''", scope) for scope in large)
        for scope in oldest:
            if _used(connection) <= size:
                break
            answers += _remove(connection, scope)
            cells += 1
        _drop_loose_prompts(connection)
        # Not `execute`, which frees a single page.
        connection.executescript("PRAGMA incremental_vacuum")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return PrunedStore(answers=answers, cells=cells, size=path.stat().st_size)


def _oldest(connection: sqlite3.Connection) -> list[int]:
    """The scopes that may be removed, those that were used longest ago first."""
    kept = "(SELECT id FROM run ORDER BY id DESC LIMIT ?)"
    query = f"SELECT id FROM scope WHERE used NOT IN {kept} ORDER BY used, id"  # noqa: S608
    return [scope for (scope,) in connection.execute(query, (_KEPT_RUNS,)).fetchall()]


def _used(connection: sqlite3.Connection) -> int:
    """The bytes of the file without its free pages."""
    query = "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, "
    return int(connection.execute(f"{query} pragma_page_size").fetchone()[0])


def _remove(connection: sqlite3.Connection, scope: int) -> int:
    """Remove a scope in chunks; return the number of its answers."""
    connection.execute("DELETE FROM pass WHERE scope = ?", (scope,))
    answers = _delete(connection, "scope = ?", scope)
    connection.execute("DELETE FROM scope WHERE id = ?", (scope,))
    return answers


def _delete(connection: sqlite3.Connection, where: str, scope: int) -> int:
    """Remove answers of a scope in chunks; return their number."""
    delete = f"DELETE FROM response WHERE id IN (SELECT id FROM response WHERE {where} LIMIT ?)"  # noqa: S608
    answers = 0
    while removed := connection.execute(delete, (scope, _CHUNK)).rowcount:
        answers += removed
    return answers


def _drop_loose_prompts(connection: sqlite3.Connection) -> None:
    """Remove the prompts that no answer and no other prompt needs."""
    needed = "SELECT prompt FROM response WHERE prompt IS NOT NULL"
    connection.execute(
        f"DELETE FROM prompt WHERE digest NOT IN ({needed}) AND digest NOT IN "  # noqa: S608
        f"(SELECT base FROM prompt WHERE base IS NOT NULL AND digest IN ({needed}))"
    )
    connection.execute("DELETE FROM engine WHERE id NOT IN (SELECT engine FROM scope)")
