"""The response store: one SQLite file `.puma/responses.sqlite`, to which every process of a run writes.

    store = ResponseStore(path, run="20261125T101500-77", started="2026-11-25T10:15:00+00:00")
    scope = store.scope("triage_jira-zero_shot@", engine, backend, parts)
    store.keep(scope, batch, prompt, [(key, request, response)])
    store.find(scope, [key], batch)

Nothing here fails a test: if the file cannot be written, no more answers are kept, and `take_notes` returns the reason.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_puma.core import Prompt, Request, Response
from pytest_puma.responses.file import StoreFile
from pytest_puma.responses.recipe import prompt_json
from pytest_puma.responses.row import COLUMNS, KeptResponse, check_of, sound_response, values_of

#: Keys of one query.
_AT_ONCE = 500
#: Bytes that deflate can look back.
WINDOW = 32_768
# Queries are put together from our own names and from placeholders alone.
_NAMES = ("scope", "request", "company", "run", "prompt", *COLUMNS, "row_check")
_INSERT = f"INSERT OR REPLACE INTO response({', '.join(_NAMES)}) VALUES ({', '.join('?' for _ in _NAMES)})"  # noqa: S608
_SELECT = (
    f"SELECT run, coalesce(run.name, 'unknown'), request, company, {', '.join(COLUMNS)}, row_check "  # noqa: S608
    "FROM response LEFT JOIN run ON run.id = response.run WHERE"
)
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
    """The answers of a cell by the engine of this key; `parts`: what could change the requests, as of the last run."""

    cell: str
    key: bytes
    engine: EngineRow = field(compare=False)
    parts: Mapping[str, Any] = field(compare=False)


class ResponseStore(StoreFile):
    """The store as one process of a run sees it. `readonly` opens an existing file and never changes it."""

    def __init__(
        self, path: Path, *, run: str = "", started: str = "", keep_prompts: bool = True, readonly: bool = False
    ) -> None:
        super().__init__(path, readonly=readonly)
        self._named = run, started
        self._keep_prompts = keep_prompts

    # -- reading ---------------------------------------------------------------------------------

    def find(self, scope: Scope, keys: Sequence[bytes], batch: bytes) -> dict[bytes, KeptResponse]:
        """Return the kept responses by their request: that of this batch, else the oldest one."""
        responses: dict[bytes, KeptResponse] = {}
        rows: list[Any] = []
        for start in range(0, len(keys), _AT_ONCE):
            part = keys[start : start + _AT_ONCE]
            where = f"request IN ({', '.join('?' * len(part))}) ORDER BY response.id"
            rows += self._rows(scope, where, part)
        for request, kept in self._sound(scope, rows):
            if request not in responses or kept.batch == batch != responses[request].batch:
                responses[request] = kept
        return responses

    def whole_batches(self, scope: Scope, request: bytes | None = None) -> Iterator[dict[bytes, KeptResponse]]:
        """Yield the responses of each batch that was computed to its end and has them all, the newest first.

        `request`: one that the batch must have, None for all batches.
        """
        of_batch = "FROM response WHERE response.scope = pass.scope AND response.company = pass.company"
        has_it = f"(?2 IS NULL OR EXISTS (SELECT 1 {of_batch} AND request = ?2))"
        newest = f"(SELECT max(id) {of_batch})"
        query = f"SELECT company, responses FROM pass WHERE scope = ?1 AND {has_it} ORDER BY {newest} DESC"  # noqa: S608
        for batch, count in self.rows(query, (self.number(scope), request)):
            responses = dict(self._sound(scope, self._rows(scope, "company = ?", [batch])))
            if len(responses) >= count:
                yield responses

    def scopes(self) -> list[Scope]:
        """Return the answers of each cell and engine, the last used first."""
        rows = self.rows(
            "SELECT cell, digest, parts, weights, model, signature, notes FROM scope "
            "JOIN engine ON engine.id = scope.engine ORDER BY used DESC, scope.id DESC"
        )
        return [scope for row in rows if (scope := self._scope(*row)) is not None]

    def number(self, scope: Scope) -> int:
        """Return the id of a scope in the file, 0 if it is not there."""
        if scope not in self.ids:
            query = "SELECT scope.id FROM scope JOIN engine ON engine.id = engine WHERE cell = ? AND digest = ?"
            rows = self.rows(query, (scope.cell, scope.key))
            if not rows:
                return 0
            (self.ids[scope],) = rows[0]
        return self.ids[scope]

    def weights(self, model: str) -> list[str]:
        """Return the digests of the weights that answered under a model's name."""
        rows = self.rows("SELECT DISTINCT weights FROM engine WHERE model = ? ORDER BY weights", (model,))
        return [weights for (weights,) in rows]

    def has_weights(self, digest: str) -> bool:
        """Return True if weights of this digest answered, under any name."""
        return bool(self.rows("SELECT 1 FROM engine WHERE weights = ? LIMIT 1", (digest,)))

    def models(self) -> list[str]:
        """Return the names of all models that answered."""
        return [name for (name,) in self.rows("SELECT DISTINCT model FROM engine ORDER BY model")]

    def _rows(self, scope: Scope, where: str, values: Sequence[bytes]) -> list[Any]:
        return self.rows(f"{_SELECT} response.scope = ? AND {where}", (self.number(scope), *values))

    def _sound(self, scope: Scope, rows: Sequence[Any]) -> Iterator[tuple[bytes, KeptResponse]]:
        """Yield the request and the response of each row whose checksum is right in this scope."""
        damaged = 0
        for run, name, *row in rows:
            response = sound_response((scope.cell, scope.key), tuple(row))
            if response is None:
                damaged += 1
            else:
                request, batch, *_ = row
                yield request, KeptResponse(response, batch, (run, name))
        if damaged:
            self.note(f"{damaged:,} of the answers in {self.path} are damaged, and count as missing")

    def _scope(self, cell: str, key: bytes, parts: str, weights: str, model: str, *engine: str) -> Scope | None:
        """A scope of its columns; None if they are damaged, as they have no checksum."""
        try:
            signature, notes = map(json.loads, engine)
            row = EngineRow(weights, model, signature, tuple(notes))
            return Scope(cell=cell, key=key, engine=row, parts=json.loads(parts))
        except (TypeError, ValueError):
            self.note(f"a cell in {self.path} is damaged, and its answers count as missing")
            return None

    # -- writing ---------------------------------------------------------------------------------

    def scope(self, cell: str, engine: bytes, backend: EngineRow, parts: Mapping[str, Any]) -> Scope | None:
        """Return the scope of a cell's answers by an engine, and mark it as used by this run; None without a store."""
        scope = Scope(cell=cell, key=engine, engine=backend, parts=parts)
        self.ids.pop(scope, None)
        self.write(lambda connection: self._number(connection, scope))
        return scope if self.number(scope) else None

    def keep(
        self, scope: Scope, batch: bytes, base: Prompt, answered: Sequence[tuple[bytes, Request, Response]]
    ) -> None:
        """Write responses with the keys of their requests, all or none; `base` is a prompt that the others resemble."""

        def transaction(connection: sqlite3.Connection) -> None:
            number, run = self._number(connection, scope), self._run(connection)
            for key, request, response in answered:
                prompt = self._keep_prompt(connection, base, request.prompt) if self._keep_prompts else None
                values = values_of(response)
                check = check_of(scope.cell, scope.key, key, batch, *values)
                connection.execute(_INSERT, (number, key, batch, run, prompt, *values, check))

        self.write(transaction)

    def finish_batch(self, scope: Scope, batch: bytes, responses: int) -> None:
        """Record that all responses of a batch were computed together and are kept."""
        insert = "INSERT OR REPLACE INTO pass VALUES (?, ?, ?)"
        self.write(lambda connection: connection.execute(insert, (self._number(connection, scope), batch, responses)))

    def _number(self, connection: sqlite3.Connection, scope: Scope) -> int:
        """The id of a scope, which is written if the file does not have it yet."""
        engine = scope.engine
        if scope not in self.ids:
            columns = (scope.key, engine.weights, engine.model, *map(json.dumps, (engine.signature, engine.notes)))
            connection.execute(_INSERT_ENGINE, columns)
            (number,) = connection.execute("SELECT id FROM engine WHERE digest = ?", (scope.key,)).fetchone()
            connection.execute(_INSERT_SCOPE, (scope.cell, number, json.dumps(scope.parts), self._run(connection)))
            rows = connection.execute("SELECT id FROM scope WHERE cell = ? AND engine = ?", (scope.cell, number))
            (self.ids[scope],) = rows.fetchone()
        return self.ids[scope]

    def _run(self, connection: sqlite3.Connection) -> int:
        """The id of this run."""
        if self._named not in self.ids:
            connection.execute("INSERT OR IGNORE INTO run(name, started) VALUES (?, ?)", self._named)
            rows = connection.execute("SELECT id FROM run WHERE name = ?", self._named[:1])
            (self.ids[self._named],) = rows.fetchone()
        return self.ids[self._named]

    def _keep_prompt(self, connection: sqlite3.Connection, base: Prompt, prompt: Prompt) -> bytes:
        """Keep a prompt as its difference to another one; return its digest."""
        (base_digest, base_body), (digest, body) = map(_named_body, (base, prompt))
        connection.execute(_INSERT_PROMPT, (base_digest, None, _compressed(base_body)))
        if digest != base_digest:
            deflate = zlib.compressobj(zdict=base_body[-WINDOW:])
            connection.execute(_INSERT_PROMPT, (digest, base_digest, deflate.compress(body) + deflate.flush()))
        return digest


@lru_cache(maxsize=2)
def _named_body(prompt: Prompt) -> tuple[bytes, bytes]:
    body = prompt_json(prompt)
    return sha256(body).digest()[:16], body


@lru_cache(maxsize=1)
def _compressed(body: bytes) -> bytes:
    """The content of the one prompt to which a whole batch is compared."""
    return zlib.compress(body)
