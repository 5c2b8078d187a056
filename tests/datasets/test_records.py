"""Rows with any values, from each format."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_puma.core import DataError
from pytest_puma.datasets import table
from pytest_puma.datasets.frames import check_required
from pytest_puma.datasets.table import read_records

ROWS: list[dict[str, Any]] = [
    {"question": "Where?", "choices": ["desk", "sea"], "more": {"label": [1, 2], "deep": {"x": None}}, "points": 3},
    {"question": "When?", "choices": [], "more": {"label": [], "deep": {"x": "y"}}, "points": 4},
]


def read(path: Path) -> list[dict[str, Any]]:
    return [row for _, row in read_records(path.read_bytes(), name=path.name)]


def refused(data: bytes, name: str) -> str:
    with pytest.raises(DataError) as caught:
        read_records(data, name=name)
    return str(caught.value)


def test_json_lines_keep_lists_objects_and_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    assert read(path) == ROWS


def test_a_json_list_is_read_as_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(ROWS), encoding="utf-8")
    assert read(path) == ROWS


def test_the_only_list_of_objects_in_an_object_is_read_as_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"version": 2, "tags": ["a"], "empty": [], "examples": ROWS}), encoding="utf-8")
    assert read(path) == ROWS


def test_compressed_rows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
    assert read(path) == ROWS


def test_parquet_keeps_lists_and_objects_as_plain_values(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    pd.DataFrame(ROWS).to_parquet(path)
    assert read(path) == ROWS
    assert type(read(path)[0]["choices"]) is list


def test_every_value_of_csv_is_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('question,choices,points\nWhere?,"[1, 2]",3\n', encoding="utf-8")
    assert read(path) == [{"question": "Where?", "choices": "[1, 2]", "points": "3"}]


def test_half_a_surrogate_pair_becomes_a_character_that_a_tokenizer_can_encode() -> None:
    data = b'{"text": "a\\ud800b", "list": ["\\udc00"]}\n'
    ((_, row),) = read_records(data, name="rows.jsonl")
    json.dumps(row, ensure_ascii=False).encode()
    assert row["text"].startswith("a")
    assert row["text"].endswith("b")


def test_rows_have_the_number_of_their_line() -> None:
    assert [number for number, _ in read_records(b'{"a": 1}\n\n{"a": 2}\n', name="rows.jsonl")] == [1, 3]


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"{}", "rows.json", "rows.json: holds a JSON dict; expected a list of objects"),
        (b'{"a": [1], "b": []}', "rows.json", "rows.json: holds a JSON dict; expected a list of objects"),
        (
            b'{"train": [{"q": 1}], "test": [{"q": 2}]}',
            "rows.json",
            "rows.json: holds several lists of objects: train, test; expected one of them in a file of its own",
        ),
        (b"[1]", "rows.json", "rows.json: holds a JSON list; expected a list of objects"),
        (b"[", "rows.json", "rows.json: not JSON"),
        (b"x", "rows.jsonl.gz", "rows.jsonl.gz: cannot be decompressed"),
        (b"[" * 5000, "rows.json", "rows.json: not JSON (it is nested too deeply"),
        (
            b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}",
            "rows.jsonl",
            "rows.jsonl: line 1 is not JSON (it is nested too deep",
        ),
        (b'{"a": 1, "a": 2}', "rows.jsonl", "rows.jsonl: line 1 is not JSON (the key 'a' is there twice)"),
        (b'[{"a": {"b": 1, "b": 2}}]', "rows.json", "rows.json: not JSON (the key 'b' is there twice)"),
        (b'{"a": ' + b"9" * 5000 + b"}", "rows.jsonl", "rows.jsonl: line 1 is not JSON (a whole number has thousands"),
        (b"PAR1" + b"\x00" * 99 + b"PAR1", "rows.parquet", "rows.parquet: not a Parquet file that pyarrow can read"),
        (b"a", "rows.xlsx", "rows.xlsx: the format .xlsx is unknown; expected .csv, .tsv, .jsonl, .json or .parquet"),
        (b"a", "rows", "rows: the format (no suffix) is unknown"),
    ],
)
def test_a_faulty_file_is_refused_with_its_name(data: bytes, name: str, message: str) -> None:
    assert refused(data, name).startswith(message)


def test_a_file_that_grows_beyond_all_data_sets_is_refused_before_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_DATA", 1 << 20)
    bomb = gzip.compress(b"0" * (10 << 20))
    expected = "rows.json.gz: has more than 1 MB when decompressed, and a file is read as a whole; make a smaller file"
    assert refused(bomb, "rows.json.gz").startswith(expected)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"choices": ["a"], "answer": 1}, ""),
        ({"answer": 1}, "column 'choices': missing; the row has: answer"),
        ({"choices": None, "answer": 1}, "column 'choices': found nothing, expected list"),
        ({"choices": float("nan"), "answer": 1}, "column 'choices': found nothing, expected list"),
        ({"choices": "['a']", "answer": 1}, "column 'choices': found \"['a']\" (str), expected list"),
        ({"choices": [], "answer": "A"}, ""),
        ({"choices": [], "answer": 1.5}, "column 'answer': found 1.5 (float), expected int or str"),
        ({"choices": [], "answer": True}, "column 'answer': found True (bool), expected int or str"),
        ({"choices": "x" * 90, "answer": 1}, f"column 'choices': found '{'x' * 79}... (str), expected list"),
    ],
)
def test_required_columns_are_there_with_their_type(row: dict[str, Any], fault: str) -> None:
    assert check_required(row, {"choices": list, "answer": (int, str)}) == fault
