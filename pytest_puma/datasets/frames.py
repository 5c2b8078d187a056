"""Rows as data frames, and the columns that they need. Only this file of the room imports pandas, on first use."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_puma.core import DataError
from pytest_puma.phrases import shown

if TYPE_CHECKING:
    import pandas as pd

    from pytest_puma.core import Scenario

#: The name of an index with the number of each row in its file.
ROW = "row"


def to_frame(
    records: Sequence[Mapping[str, Any]], *, columns: Sequence[str], rows: Sequence[int] | None = None
) -> pd.DataFrame:
    """Return a frame of these columns, of plain Python objects so that no value changes its type; `rows`: its index."""
    import pandas as pd

    index = None if rows is None else pd.Index(rows, name=ROW)
    return pd.DataFrame([dict(record) for record in records], columns=list(columns), dtype=object, index=index)


def row_names(frame: pd.DataFrame) -> list[str]:
    """Return the name of each row in messages: `row 5` of a file, `index 3` of a frame without a file."""
    word = ROW if frame.index.name == ROW else "index"
    return [f"{word} {label}" for label in frame.index]


def to_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dictionaries of plain Python values, `None` for a missing value."""
    import pandas as pd

    def plain(value: Any) -> Any:
        return None if pd.api.types.is_scalar(value) and pd.isna(value) else value

    return [{str(name): plain(value) for name, value in row.items()} for row in frame.to_dict("records")]


def parquet_records(data: bytes) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file; `ImportError` without pyarrow, `ValueError` or `OSError` if it is none."""
    import pandas as pd

    frame = pd.read_parquet(io.BytesIO(data))
    named_index = any(name is not None for name in frame.index.names)
    return to_records(frame.reset_index() if named_index else frame)


def check_columns(scenario: Scenario, frame: Any) -> None:
    """Raise a `DataError` if the rows are no frame, lack a declared column, or have two columns of one name."""
    columns = getattr(frame, "columns", None)
    if columns is None:
        msg = f"scenario {scenario.name!r}: its rows are of type {type(frame).__name__}; expected a pandas DataFrame"
        raise DataError(msg)
    names = [str(column) for column in columns]
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        msg = f"scenario {scenario.name!r}: its rows have two columns {repeated[0]!r}; rename one"
        raise DataError(msg)
    declared = (*(() if scenario.key is None else (scenario.key,)), *scenario.unit_columns, *scenario.group_columns)
    if missing := [name for name in declared if name not in names]:
        msg = f"scenario {scenario.name!r}: its rows have no column {missing[0]!r}; they have: {', '.join(names)}"
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
            return unusable(column, value, _kinds(kinds))
    return ""


def unusable(column: str, value: object, expected: str) -> str:
    """Return the fault of a value in a column."""
    return f"column {column!r}: found {shown(value)} ({type(value).__name__}), expected {expected}"


def _kinds(kinds: type | tuple[type, ...]) -> str:
    return " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
