"""Conversion from and to data frames. The only file of this room that imports pandas, on first use."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


#: The name of an index with the number of each row in its file.
ROW = "row"


def to_frame(
    records: Sequence[Mapping[str, Any]], *, columns: Sequence[str], rows: Sequence[int] | None = None
) -> pd.DataFrame:
    """Return a frame of these columns, of plain Python objects so that no value changes its type; `rows`: its index."""
    import pandas as pd

    index = None if rows is None else pd.Index(rows, name=ROW)
    return pd.DataFrame([dict(record) for record in records], columns=list(columns), dtype=object, index=index)


def places(frame: pd.DataFrame) -> list[str]:
    """Return the place of each row: `row 5` of a file, `index 3` of a frame without a file."""
    word = ROW if frame.index.name == ROW else "index"
    return [f"{word} {label}" for label in frame.index]


def to_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dictionaries of plain Python values, `None` for a missing value."""
    import pandas as pd

    def plain(value: Any) -> Any:
        return None if pd.api.types.is_scalar(value) and pd.isna(value) else value

    return [{str(name): plain(value) for name, value in row.items()} for row in frame.to_dict("records")]


def plain_value(value: Any) -> Any:
    """Return a value of NumPy, as Parquet has them, as one of Python."""
    return value.tolist() if hasattr(value, "tolist") else value


def parquet_records(data: bytes) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file; `ImportError` without pyarrow, `ValueError` or `OSError` if it is none."""
    import pandas as pd

    frame = pd.read_parquet(io.BytesIO(data))
    named_index = any(name is not None for name in frame.index.names)
    return to_records(frame.reset_index() if named_index else frame)
