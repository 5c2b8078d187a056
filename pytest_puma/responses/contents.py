"""The contents of a response store, to look at."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pytest_puma.codec.plain import plain
from pytest_puma.core import CellId
from pytest_puma.platform.json_text import parse_foreign_json
from pytest_puma.responses.database import WINDOW, ResponseStore, Scope
from pytest_puma.responses.row import COLUMNS, inflated, sound_response

#: Stands for all cells, which share the strict answers of a model.
_STRICT = "strict"


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
    counted = dict(store.rows("SELECT scope, count(*) FROM response GROUP BY scope"))
    last = dict(store.rows("SELECT scope.id, run.name FROM scope LEFT JOIN run ON run.id = scope.used"))
    return [
        KeptCell(
            cell=_cell(scope.cell, scope.engine.model),
            scope=scope,
            answers=counted.get(store.number(scope), 0),
            run=last.get(store.number(scope)) or "unknown",
        )
        for scope in store.scopes()
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
