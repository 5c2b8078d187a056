"""Rows of a run in a file of the user's choice: the suffix selects the format."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_puma.codec.plain import storable
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


def _csv(columns: Sequence[str], rows: _Rows) -> str:
    return csv.of_rows(columns, ((_flat(row.get(name)) for name in columns) for row in rows))


def _flat(value: Any) -> Any:
    """A list or an object as JSON text, for a cell."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | tuple | dict) else value


def _json(_: Sequence[str], rows: _Rows) -> str:
    return json.dumps([_strict(row) for row in rows], ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _lines(_: Sequence[str], rows: _Rows) -> str:
    return "".join(json.dumps(_strict(row), ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def _strict(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with null for NaN."""
    return {name: None if isinstance(each, float) and math.isnan(each) else each for name, each in row.items()}


#: The writer of each suffix.
FORMATS: Mapping[str, Callable[[Sequence[str], _Rows], str | bytes]] = {
    ".csv": _csv,
    ".json": _json,
    ".jsonl": _lines,
    ".parquet": parquet.of_rows,
}
