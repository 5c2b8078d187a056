"""Rows of a run in a file of the user's choice: the suffix selects the format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_puma.codec.plain import plain, storable
from pytest_puma.core import SettingsError
from pytest_puma.platform.files import obstacle, write_whole
from pytest_puma.report import csv, parquet

_Rows = Iterable[Mapping[str, Any]]


def export(path: Path, columns: Sequence[str], rows: _Rows) -> int:
    """Write rows, under `columns` and then all others; return their number.

    Raises a `SettingsError` for an unknown suffix or a path that cannot be written, a `DataError` without pyarrow, and
    an `OSError`.
    """
    write = FORMATS.get(path.suffix.lower())
    if write is None:
        msg = f"-o {path}: the suffix {path.suffix!r} is unknown; expected one of {', '.join(FORMATS)}"
        raise SettingsError(msg)
    if reason := obstacle(path):
        msg = f"-o {path}: {reason}; expected the path of a file that can be written"
        raise SettingsError(msg)
    table = list(rows)
    content = write(list(dict.fromkeys([*columns, *(name for row in table for name in row)])), table)
    write_whole(path, content if isinstance(content, bytes) else storable(content))
    return len(table)


def _json(_: Sequence[str], rows: _Rows) -> str:
    return json.dumps(list(map(plain, rows)), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _lines(_: Sequence[str], rows: _Rows) -> str:
    return "".join(json.dumps(plain(row), ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


#: The writer of each suffix.
FORMATS: Mapping[str, Callable[[Sequence[str], _Rows], str | bytes]] = {
    ".csv": csv.of_rows,
    ".json": _json,
    ".jsonl": _lines,
    ".parquet": parquet.of_rows,
}
