"""A run as a Parquet file: the columns of CSV, exact, for pandas and other tools of data."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_puma.core import DataError, Run
from pytest_puma.platform.installation import install_extra
from pytest_puma.report.csv import COLUMNS, rows


def as_parquet(run: Run) -> bytes:
    """Return the file with a row for each measure of each cell."""
    return of_rows(COLUMNS, rows(run))


def of_rows(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the file of any rows; a column with values of several types becomes JSON text. A `DataError` if it cannot.

    `columns` come first, then all others.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        msg = f"Parquet files need pyarrow: {install_extra('parquet')}"
        raise DataError(msg) from error

    table = list(rows)
    names = dict.fromkeys([*columns, *(name for row in table for name in row)])
    file = io.BytesIO()
    pq.write_table(pa.table({name: _column([row.get(name) for row in table]) for name in names}), file)
    return file.getvalue()


def _column(values: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else json.dumps(value, ensure_ascii=False) for value in values])
