"""A data file -> its rows as dictionaries, with lists and nested values intact. Cells of a CSV are text.

    questions.csv, .tsv        one row a line, under a header
    questions.jsonl, .ndjson   one object a line
    questions.json             a list of objects
    questions.parquet          needs pyarrow
    questions.jsonl.gz         any of them, compressed

Row numbers are those of `table`; in a JSON list the first object is 1.
"""

from __future__ import annotations

import gzip
import io
import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.datasets.frames import plain_value
from pytest_puma.datasets.table import MAX_DATA, decoded, json_lines, parquet_rows, read_csv
from pytest_puma.platform.json_text import parse_foreign_json

_GZIP = ".gz"
#: Characters of a wrong value in a message.
_SHOWN = 40


def read_records(data: bytes, *, name: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the number and the values of each row; a `DataError` names the file and the faulty row."""
    if name.endswith(_GZIP):
        data, name = _decompressed(data, name), name.removesuffix(_GZIP)
    suffix = Path(name).suffix.lower()
    if suffix in {".csv", ".tsv"}:
        return [
            (row.number, dict(zip(table.header, row.cells, strict=True)))
            for table in [read_csv(decoded(data, name), name)]
            for row in table.rows
        ]
    if suffix in {".jsonl", ".ndjson"}:
        return [(number, _clean(record)) for number, record in json_lines(decoded(data, name), name)]
    if suffix == ".json":
        return list(enumerate(map(_clean, _json_list(decoded(data, name), name)), start=1))
    if suffix == ".parquet":
        return list(enumerate(map(_clean, parquet_rows(data, name)), start=1))
    msg = f"{name}: the format {suffix or '(no suffix)'} is unknown; expected .csv, .tsv, .jsonl, .json or .parquet"
    raise DataError(msg)


def check_required(row: Mapping[str, Any], required: Mapping[str, type | tuple[type, ...]]) -> str:
    """Return the first fault of a row: a column that is missing, empty or of another type; empty if there is none."""
    for column, kinds in required.items():
        value = row.get(column)
        if column not in row:
            return f"column {column!r}: missing; the row has: {', '.join(row)}"
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return f"column {column!r}: found nothing, expected {_kinds(kinds)}"
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            shown = repr(value) if len(repr(value)) <= _SHOWN else f"{repr(value)[:_SHOWN]}..."
            return f"column {column!r}: found {shown} ({type(value).__name__}), expected {_kinds(kinds)}"
    return ""


def _kinds(kinds: type | tuple[type, ...]) -> str:
    return " or ".join(each.__name__ for each in (kinds if isinstance(kinds, tuple) else (kinds,)))


def _decompressed(data: bytes, name: str) -> bytes:
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            content = stream.read(MAX_DATA + 1)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"{name}: cannot be decompressed ({error}); expected a file that gzip wrote"
        raise DataError(msg) from error
    if len(content) > MAX_DATA:
        msg = (
            f"{name}: has more than {MAX_DATA >> 20:,} MB when decompressed, and a file is read as a whole; make a "
            "smaller file of the rows that you evaluate"
        )
        raise DataError(msg)
    return content


def _json_list(text: str, name: str) -> Iterator[dict[str, Any]]:
    try:
        records = parse_foreign_json(text)
    except ValueError as error:
        msg = f"{name}: not JSON ({error}); expected a list of objects"
        raise DataError(msg) from error
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        msg = f"{name}: holds a JSON {type(records).__name__}; expected a list of objects"
        raise DataError(msg)
    yield from records


def _clean(value: Any) -> Any:
    """A value of plain Python types, without half a surrogate pair, which no tokenizer can encode."""
    value = plain_value(value)
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {str(name): _clean(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(each) for each in value]
    return value
