"""The response store: one SQLite file `.puma/responses.sqlite`, to which every process of a run writes.

    store = ResponseStore(path, run="20261125T101500-77", started="2026-11-25T10:15:00+00:00")
    scope = store.scope("triage_jira-zero_shot@", engine, parts)
    store.keep(scope, company, [(key, request, response)])
    store.find(scope, [key], company)

Nothing here fails a test: if the file cannot be written, answers are no longer kept, and `take_notes` says why.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_puma.core import Prompt, Request, Response
from pytest_puma.store.opening import Opened, open_to_read, open_to_write
from pytest_puma.store.recipe import prompt_json
from pytest_puma.store.row import COLUMNS, KeptResponse, check_of, response_of, values_of

#: Keys of one query.
_AT_ONCE = 500
#: Bytes that deflate can look back.
WINDOW = 32_768
# Queries are put together from our own names and from placeholders alone.
_NAMES = ("scope", "request", "company", "run", "prompt", *COLUMNS, "row_check")
_INSERT = f"INSERT OR REPLACE INTO response({', '.join(_NAMES)}) VALUES ({', '.join('?' for _ in _NAMES)})"  # noqa: S608
_SELECT = f"SELECT request, company, run, {', '.join(COLUMNS)}, row_check FROM response"  # noqa: S608
_INSERT_ENGINE = "INSERT OR IGNORE INTO engine(digest, weights, model, signature, notes) VALUES (?, ?, ?, ?, ?)"
_INSERT_SCOPE = (
    "INSERT INTO scope(cell, engine, parts, used) VALUES (?, ?, ?, ?) "
    "ON CONFLICT(cell, engine) DO UPDATE SET parts = excluded.parts, used = excluded.used"
)
_INSERT_PROMPT = "INSERT OR IGNORE INTO prompt(digest, base, body) VALUES (?, ?, ?)"


@dataclass(frozen=True, slots=True)
class EngineRow:
    """An engine that gave answers, with the `signature` and the `notes` of its backend."""

    weights: str
    model: str
    signature: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The answers of a cell by one engine; `parts`: what could change the requests, as of the last run."""

    id: int
    cell: str
    parts: Mapping[str, Any]
    engine: EngineRow


class ResponseStore:
    """The store as one process of a run sees it. `readonly` opens an existing file and never changes it."""

    def __init__(
        self, path: Path, *, run: str = "", started: str = "", keep_prompts: bool = True, readonly: bool = False
    ) -> None:
        self.path = path
        self._named = run, started
        self._keep_prompts, self._readonly = keep_prompts, readonly
        self._opened: Opened | None = None
        self._process = 0
        self._run: int | None = None
        self._notes: list[str] = []
        self._stopped = False

    # -- the file --------------------------------------------------------------------------------

    @property
    def connection(self) -> sqlite3.Connection | None:
        """The connection of this process, opened when it is first needed; None if there is no store."""
        if self._opened is None or self._process != os.getpid():
            # Two processes must not share a connection.
            self._process, self._run = os.getpid(), None
            self._opened = open_to_read(self.path) if self._readonly else open_to_write(self.path)
            self._note(self._opened.note)
        return self._opened.connection

    @property
    def keeps(self) -> bool:
        """Whether new answers are kept."""
        return self.connection is not None and self._opened is not None and self._opened.writable and not self._stopped

    def take_notes(self) -> tuple[str, ...]:
        """Return what is wrong with the store, once."""
        notes, self._notes = tuple(self._notes), []
        return notes

    def close(self) -> None:
        """Close the file."""
        if self._opened is not None and self._opened.connection is not None and self._process == os.getpid():
            self._opened.connection.close()
        self._opened = None

    # -- reading ---------------------------------------------------------------------------------

    def find(self, scope: int, keys: Sequence[bytes], company: bytes) -> dict[bytes, KeptResponse]:
        """Return the kept responses by their request: that of this company, else the oldest one."""
        found: dict[bytes, KeptResponse] = {}
        damaged = 0
        for start in range(0, len(keys), _AT_ONCE):
            part = keys[start : start + _AT_ONCE]
            where = f"WHERE scope = ? AND request IN ({', '.join('?' * len(part))}) ORDER BY id"
            for request, one, run, *values, check in self.rows(f"{_SELECT} {where}", (scope, *part)):
                if check != check_of(request, one, tuple(values)):
                    damaged += 1
                elif request not in found or (one == company != found[request].company):
                    found[request] = KeptResponse(response_of(tuple(values)), one, run)
        if damaged:
            self._note(f"{damaged} answers in {self.path} are damaged and count as missing")
        return found

    def whole_pass(self, scope: int, company: bytes) -> dict[bytes, KeptResponse] | None:
        """Return all responses of a pass that was computed to its end; None if any is missing."""
        counted = self.rows("SELECT responses FROM pass WHERE scope = ? AND company = ?", (scope, company))
        rows = self.rows(f"{_SELECT} WHERE scope = ? AND company = ?", (scope, company)) if counted else []
        responses = {
            request: KeptResponse(response_of(tuple(values)), company, run)
            for request, _, run, *values, check in rows
            if check == check_of(request, company, tuple(values))
        }
        return responses if counted and len(responses) >= counted[0][0] else None

    def run_names(self, runs: Collection[int]) -> tuple[str, ...]:
        """Return the names of runs, the newest first."""
        return tuple(name for number, name in self.rows("SELECT id, name FROM run ORDER BY id DESC") if number in runs)

    def passes(self, scope: int) -> list[bytes]:
        """Return the companies of the passes that were computed to their end, the newest first."""
        newest = "(SELECT max(id) FROM response WHERE response.scope = pass.scope AND response.company = pass.company)"
        query = f"SELECT company FROM pass WHERE scope = ? ORDER BY {newest} DESC"  # noqa: S608
        return [company for (company,) in self.rows(query, (scope,))]

    def scopes(self) -> list[Scope]:
        """Return the answers of each cell and engine, the last used first."""
        rows = self.rows(
            "SELECT scope.id, cell, parts, weights, model, signature, notes FROM scope "
            "JOIN engine ON engine.id = scope.engine ORDER BY used DESC, scope.id DESC"
        )
        return [
            Scope(
                id=number,
                cell=cell,
                parts=json.loads(parts),
                engine=EngineRow(weights, model, json.loads(signature), tuple(json.loads(notes))),
            )
            for number, cell, parts, weights, model, signature, notes in rows
        ]

    def weights(self, model: str) -> list[str]:
        """Return the digests of the weights that answered under a model's name."""
        rows = self.rows("SELECT DISTINCT weights FROM engine WHERE model = ? ORDER BY weights", (model,))
        return [weights for (weights,) in rows]

    def models(self) -> list[str]:
        """Return the names of all models that answered."""
        return [name for (name,) in self.rows("SELECT DISTINCT model FROM engine ORDER BY model")]

    # -- writing ---------------------------------------------------------------------------------

    def scope(self, cell: str, engine: bytes, backend: EngineRow, parts: Mapping[str, Any]) -> int | None:
        """Return the scope of a cell's answers by an engine, and mark it as used by this run; None without a store."""
        with self._transaction() as connection:
            if connection is not None:
                columns = (engine, backend.weights, backend.model, *map(json.dumps, (backend.signature, backend.notes)))
                connection.execute(_INSERT_ENGINE, columns)
                (number,) = connection.execute("SELECT id FROM engine WHERE digest = ?", (engine,)).fetchone()
                connection.execute(_INSERT_SCOPE, (cell, number, json.dumps(parts), self._run_id(connection)))
        found = self.rows(
            "SELECT scope.id FROM scope JOIN engine ON engine.id = engine WHERE cell = ? AND digest = ?", (cell, engine)
        )
        return int(found[0][0]) if found else None

    def keep(
        self, scope: int, company: bytes, base: Prompt, answered: Sequence[tuple[bytes, Request, Response]]
    ) -> None:
        """Write responses with the keys of their requests, all or none; `base` is a prompt that the others resemble."""
        with self._transaction() as connection:
            if connection is None:
                return
            run = self._run_id(connection)
            for key, request, response in answered:
                prompt = self._keep_prompt(connection, base, request.prompt) if self._keep_prompts else None
                values = values_of(response)
                check = check_of(key, company, values)
                connection.execute(_INSERT, (scope, key, company, run, prompt, *values, check))

    def finish_pass(self, scope: int, company: bytes, responses: int) -> None:
        """Record that all responses of a pass were computed together and are kept."""
        with self._transaction() as connection:
            if connection is not None:
                connection.execute("INSERT OR REPLACE INTO pass VALUES (?, ?, ?)", (scope, company, responses))

    def _run_id(self, connection: sqlite3.Connection) -> int:
        if self._run is None:
            connection.execute("INSERT OR IGNORE INTO run(name, started) VALUES (?, ?)", self._named)
            (self._run,) = connection.execute("SELECT id FROM run WHERE name = ?", self._named[:1]).fetchone()
        return self._run

    def _keep_prompt(self, connection: sqlite3.Connection, base: Prompt, prompt: Prompt) -> bytes:
        """Keep a prompt as its difference to another one; return its digest."""
        (base_digest, base_body), (digest, body) = map(_named_body, (base, prompt))
        connection.execute(_INSERT_PROMPT, (base_digest, None, zlib.compress(base_body)))
        if digest != base_digest:
            deflate = zlib.compressobj(zdict=base_body[-WINDOW:])
            connection.execute(_INSERT_PROMPT, (digest, base_digest, deflate.compress(body) + deflate.flush()))
        return digest

    # -- errors ----------------------------------------------------------------------------------

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """Return the rows of a query; none if the file cannot be read, which a note says."""
        connection = self.connection
        if connection is None:
            return []
        try:
            return connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            self._note(f"{self.path} cannot be read: {error}")
            return []

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection | None]:
        """Write all or nothing; after an error of the file, nothing more is kept."""
        connection = self.connection if self.keeps else None
        if connection is None:
            yield None
            return
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._stopped = True
            self._note(f"from now on, no answers are kept in {self.path}: {error}")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _note(self, note: str) -> None:
        if note and note not in self._notes:
            self._notes.append(note)


@lru_cache(maxsize=2)
def _named_body(prompt: Prompt) -> tuple[bytes, bytes]:
    body = prompt_json(prompt)
    return sha256(body).digest()[:16], body
