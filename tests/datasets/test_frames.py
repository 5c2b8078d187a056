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


def test_a_frame_without_columns_still_has_its_rows() -> None:
    assert to_records(pd.DataFrame(index=[4, 5])) == [{}, {}]


def test_numbers_categories_and_dates_of_object_columns_are_plain_values() -> None:
    values = [np.int64(7), np.float32(0.5), np.True_, np.str_("a"), pd.NaT, pd.NA, pd.Timestamp("2026-01-02")]
    records = to_records(pd.DataFrame({"value": pd.Series(values, dtype=object)}))
    assert [record["value"] for record in records] == [7, 0.5, True, "a", None, None, pd.Timestamp("2026-01-02")]
    assert [type(record["value"]) for record in records[:4]] == [int, float, bool, str]
    level = pd.Series(["low", None], dtype="category")
    assert to_records(pd.DataFrame({"level": level})) == [{"level": "low"}, {"level": None}]
