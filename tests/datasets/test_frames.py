from __future__ import annotations

import numpy as np
import pandas as pd

from pytest_puma.datasets.frames import to_frame, to_records


def test_records_hold_plain_python_values_and_none_for_what_is_missing() -> None:
    frame = pd.DataFrame(
        {
            "text": ["one", None],
            "points": [1.5, np.nan],
            "count": pd.array([1, None], dtype="Int64"),
            "whole": np.array([7, 8], dtype=np.int32),
            "when": pd.to_datetime(pd.Series(["2020-01-01", None])),
            "list": [[1, 2], None],
        }
    )
    first, second = to_records(frame)
    assert [type(first[name]) for name in ("text", "points", "count", "whole", "list")] == [str, float, int, int, list]
    assert second == {"text": None, "points": None, "count": None, "whole": 8, "when": None, "list": None}


def test_a_frame_keeps_the_columns_even_without_rows_and_the_type_of_every_value() -> None:
    assert list(to_frame([], columns=["key", "text"]).columns) == ["key", "text"]
    frame = to_frame([{"text": "007", "key": 1}, {"key": "x"}], columns=["key", "text"])
    assert to_records(frame) == [{"key": 1, "text": "007"}, {"key": "x", "text": None}]
