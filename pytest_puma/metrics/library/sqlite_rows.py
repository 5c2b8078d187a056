"""The rows of SQL queries on a database in memory: SQLite reads, and can do nothing else.

Metrics call it in a process of its own, which loads this file alone: it imports nothing of this package.

A query may read the tables of its database. The authorizer refuses all statements that write, other files (`ATTACH`,
`VACUUM INTO`), extensions and pragmas. Steps of SQLite's virtual machine are counted, so that a busy machine changes
no result; memory is limited by SQLite and, where the system can, for the whole process.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

_Row: TypeAlias = tuple[Any, ...]

#: Steps of SQLite's virtual machine for a query, a second or two, and between two looks at their number; its rows.
_STEPS, _INTERVAL, _ROWS = 25_000_000, 100_000, 1_000_000
#: Bytes of memory for SQLite, and of a single value.
_MEMORY, _VALUE = 256 << 20, 16 << 20
#: Databases that stay open: trials of a sample, and metrics of a trial, share one.
_OPEN = 4
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_FUNCTIONS = {"load_extension", "fts3_tokenizer"}
#: The beginning of a query, behind comments.
_BEGINNING = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:select|with|values)\b", re.DOTALL | re.IGNORECASE)
#: The errors of a text that is no statement, or several: SQLite has one code for them and for an unknown column.
_NO_STATEMENT = re.compile(r"syntax error|incomplete input|unrecognized token|one statement|null character")
#: A statement and another one, of which the first decides about the error.
_SEVERAL = re.compile(r";\s*\w")
#: The errors of a statement that the authorizer refuses.
_REFUSED = re.compile(r"not authorized|authorization denied")
_ERRORS = (sqlite3.Error, sqlite3.Warning, ValueError)
#: Texts, quoted names and comments, whose brackets and words count for nothing; brackets; the words of an order.
_TOKEN = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*\] | --[^\n]* | /\*.*?\*/
        | (?P<opens>\() | (?P<closes>\)) | (?P<order>\border\s+by\b)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)


def compare(setup: str, golds: Sequence[str], candidates: Sequence[str]) -> list[bool] | str:
    """Compare the rows of the first candidate that is a statement with those of the gold queries.

    Return whether it runs, whether it is the first candidate, whether it has as many rows as a gold query, and whether
    it has the same rows; a text that says what is wrong with the database or with a gold query.
    """
    try:
        database = _database(setup)
    except _ERRORS as error:
        return f"SQLite does not run the context's 'sql_setup': {error}"
    try:
        wanted = [(*_rows(database, gold, _ROWS), _is_ordered(gold)) for gold in golds]
    except _ERRORS as error:
        return f"a gold query of {golds} does not run: {error}"
    most = max((count for count, _, _ in wanted), default=0)
    for place, candidate in enumerate(candidates):
        problem, count, rows = "", 0, list[_Row]()
        try:
            count, rows = _rows(database, candidate, most)
        except _ERRORS as error:
            problem = str(error)
        refused = not _BEGINNING.match(candidate) or _REFUSED.search(problem)
        if _NO_STATEMENT.search(problem) or (refused and _SEVERAL.search(candidate)):
            continue
        if refused:
            break
        if problem:
            return [False, place == 0, False, False]
        equal = any(count == number and _same(rows, gold, ordered=ordered) for number, gold, ordered in wanted)
        return [True, place == 0, any(count == number for number, _, _ in wanted), equal]
    return [False] * 4


@lru_cache(maxsize=_OPEN)
def _database(setup: str) -> sqlite3.Connection:
    """The database that statements build; from then on it can only be read."""
    database = sqlite3.connect(":memory:")
    database.text_factory = lambda text: text.decode(errors="surrogateescape")
    for pragma in ("temp_store=MEMORY", f"hard_heap_limit={_MEMORY}"):
        database.execute(f"PRAGMA {pragma}")
    if hasattr(database, "setlimit"):  # from Python 3.11 on
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE)
    database.set_authorizer(_building)
    database.executescript(setup)
    database.commit()
    database.set_authorizer(None)
    database.execute("PRAGMA query_only=ON")
    database.set_authorizer(_reading)
    return database


def _building(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Allow all but other files and settings; dumps switch the check of foreign keys off."""
    sets = action == sqlite3.SQLITE_PRAGMA and (first or "").lower() != "foreign_keys"
    refused = sets or action == sqlite3.SQLITE_ATTACH or _is_refused(action, second)
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def _reading(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    # json_each declares its columns by such an update; `query_only` refuses one that writes.
    declares = action == sqlite3.SQLITE_UPDATE and first in {"sqlite_master", "sqlite_schema"}
    allowed = (action in _READING or declares) and not _is_refused(action, second)
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _is_refused(action: int, name: str | None) -> bool:
    return action == sqlite3.SQLITE_FUNCTION and (name or "").lower() in _FUNCTIONS


def _rows(database: sqlite3.Connection, query: str, most: int) -> tuple[int, list[_Row]]:
    """The number of rows of a query, and the first of them, at most `most`.

    Raises one of `_ERRORS` for a text that is no query, and beyond a limit.
    """
    looks = iter(range(_STEPS // _INTERVAL))
    database.set_progress_handler(lambda: next(looks, None) is None, _INTERVAL)
    rows: list[_Row] = []
    count = 0
    for row in database.execute(query):
        count += 1
        if count > _ROWS:
            msg = f"over {_ROWS:,} rows"
            raise ValueError(msg)
        if count <= most:
            rows.append(tuple(map(_comparable, row)))
    return count, rows


def _comparable(value: Any) -> Any:
    """A value without the last digits of a fraction, which depend on the order of a sum; 1.0 equals 1 in Python too."""
    return float(f"{value:.12g}") if isinstance(value, float) and not value.is_integer() else value


def _same(rows: Sequence[_Row], wanted: Sequence[_Row], *, ordered: bool) -> bool:
    return rows == wanted if ordered else Counter(rows) == Counter(wanted)


def _is_ordered(query: str) -> bool:
    """Whether a query itself has an ORDER BY, outside its brackets: a query within it, or a window, orders no rows."""
    depth = 0
    for token in _TOKEN.finditer(query):
        depth += (token["opens"] is not None) - (token["closes"] is not None)
        if token["order"] and depth == 0:
            return True
    return False
