"""A data file -> its rows as dictionaries, with lists and nested values intact; or a table, whose cells are all text.

    questions.csv, .tsv        one row a line, under a header; every value is text
    questions.jsonl, .ndjson   one object a line
    questions.json             a list of objects, or an object with one such list: {"examples": [...]}
    questions.parquet          needs pyarrow
    questions.jsonl.gz         any of them, compressed

A row number is that of the file: the header of a CSV is row 1, as in a spreadsheet (a cell of several lines is one
row); in JSON Lines it is the line; in a JSON list and in Parquet the first row is 1.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.datasets.frames import Table, to_records
from pytest_puma.phrases import described, named
from pytest_puma.platform.installation import install_extra
from pytest_puma.platform.json_text import parse_foreign_json
from pytest_puma.task_types.regression import number_text

#: Bytes of a file of data, which is read as a whole; public benchmarks have up to 100 MB.
MAX_DATA = 1 << 29
_GZIP = ".gz"
_CSV = frozenset({".csv", ".tsv"})


def read_table(data: bytes, *, name: str) -> Table:
    """Parse the content of the file `name` as a table of text; errors as in `read_records`, and for one without rows.

    In a CSV, columns may have the same name.
    """
    data, name = _decompressed(data, name)
    if Path(name).suffix.lower() in _CSV:
        return _read_csv(decoded(data, name), name)
    records = read_records(data, name=name)
    header = tuple(dict.fromkeys(column for _, record in records for column in record))
    rows = ((number, tuple(_cell(record.get(column)) for column in header)) for number, record in records)
    return Table(name=name, header=header, rows=tuple(rows))


def _cell(value: Any) -> str | None:
    """A value as text in a CSV."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return number_text(value) if isinstance(value, float) else str(value)


def read_records(data: bytes, *, name: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the number and the values of each row of the file `name`; its suffix is the format.

    A `DataError` names the file and the faulty row if the format is unknown, the text is not UTF-8, a row has more or
    fewer cells than the header, or a line is not a JSON object.
    """
    data, name = _decompressed(data, name)
    suffix = Path(name).suffix.lower()
    if suffix in _CSV:
        table = _read_csv(decoded(data, name), name)
        return [(number, dict(zip(table.header, cells, strict=True))) for number, cells in table.rows]
    records: Iterable[tuple[int, dict[str, Any]]]
    if suffix in {".jsonl", ".ndjson"}:
        records = _json_lines(decoded(data, name), name)
    elif suffix == ".json":
        records = enumerate(_json_list(decoded(data, name), name), start=1)
    elif suffix == ".parquet":
        records = enumerate(_parquet_rows(data, name), start=1)
    else:
        msg = f"{name}: the format {suffix or '(no suffix)'} is unknown; expected .csv, .tsv, .jsonl, .json or .parquet"
        raise DataError(msg)
    return [(number, _clean(record)) for number, record in records]


def decoded(data: bytes, name: str) -> str:
    """Return the text of a file; a `DataError` names the line that is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        msg = f"{name}: line {line} holds byte 0x{data[error.start]:02x}, which is not UTF-8; save the file as UTF-8"
        raise DataError(msg) from error


def _read_csv(text: str, name: str) -> Table:
    """Parse the rows of a CSV file that are not empty; errors as in `read_table`."""
    first_line = text.split("\n", 1)[0]
    numbered = csv_cells(text, name, delimiter=max(",;\t", key=first_line.count), strict=True)
    rows = [(number, tuple(cells)) for number, cells in numbered if any(cell.strip() for cell in cells)]
    header = rows[0][1] if rows else ()
    for number, cells in rows:
        if len(cells) != len(header):
            msg = (
                f"{name}: row {number} has {len(cells)} cells, the header has {len(header)}; "
                "check for an unclosed quote here or in the row before, or an unquoted comma"
            )
            raise DataError(msg)
    return Table(name=name, header=header, rows=tuple(rows[1:]))


def csv_cells(text: str, name: str, *, delimiter: str = ",", strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row; errors as in `read_table`.

    `strict`: a stray quote must not silently swallow the following rows.
    """
    rows: list[list[str]] = []
    # The csv module's limit of 131,072 characters is global, and a pasted log can be longer. All rows are read at once:
    # between two rows, another reader could change the limit.
    limit = csv.field_size_limit()
    csv.field_size_limit(max(len(text), limit))
    try:
        rows.extend(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict))
    except csv.Error as error:
        msg = f"{name}: row {len(rows) + 1} is not CSV ({error}); quotes inside a quoted cell are doubled"
        raise DataError(msg) from error
    finally:
        csv.field_size_limit(limit)
    yield from enumerate(rows, 1)


def _json_lines(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line that is not empty; errors as in `read_table`."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = parse_foreign_json(line)
        except ValueError as error:
            msg = f"{name}: line {number} is not JSON ({error}); expected one object a line"
            raise DataError(msg) from error
        if not isinstance(record, dict):
            msg = f"{name}: line {number} holds a JSON {type(record).__name__}; expected one object a line"
            raise DataError(msg)
        yield number, record


def _parquet_rows(data: bytes, name: str) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file; errors as in `read_table`."""
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(data))
        named_index = any(column is not None for column in frame.index.names)
        return to_records(frame.reset_index() if named_index else frame)
    except ImportError as error:
        msg = f"{name}: reading Parquet needs pyarrow ({error}); install it with: {install_extra('parquet')}"
        raise DataError(msg) from error
    except Exception as error:
        # pyarrow and pandas raise errors of any kind for a damaged file.
        msg = f"{name}: not a Parquet file that pyarrow can read ({described(error)}); make it again"
        raise DataError(msg) from error


def _decompressed(data: bytes, name: str) -> tuple[bytes, str]:
    """The content of a file and its name; of a compressed one without the suffix."""
    if not name.endswith(_GZIP):
        return data, name
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
    return content, name.removesuffix(_GZIP)


def _json_list(text: str, name: str) -> list[dict[str, Any]]:
    try:
        content = parse_foreign_json(text)
    except ValueError as error:
        msg = f"{name}: not JSON ({error}); expected a list of objects"
        raise DataError(msg) from error
    lists = {"": content}
    if isinstance(content, dict):
        lists = {key: value for key, value in content.items() if value}
    found = {key: value for key, value in lists.items() if _is_rows(value)}
    if len(found) > 1:
        msg = f"{name}: holds several lists of objects: {named(found)}; expected one of them in a file of its own"
        raise DataError(msg)
    if not found:
        msg = f"{name}: holds a JSON {type(content).__name__}; expected a list of objects"
        raise DataError(msg)
    (rows,) = found.values()
    return list(rows)


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _clean(value: Any) -> Any:
    """A value of plain Python types, without half a surrogate pair, which no tokenizer can encode."""
    value = value.tolist() if hasattr(value, "tolist") else value  # NumPy's, as Parquet has them
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {str(name): _clean(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(part) for part in value]
    return value
