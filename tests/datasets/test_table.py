from __future__ import annotations

import csv
import io
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import DataError
from pytest_puma.datasets.table import csv_cells, read_table

CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), max_size=20)


def cells(data: bytes, name: str = "issues.csv") -> list[tuple[str | None, ...]]:
    return [cells for _, cells in read_table(data, name=name).rows]


def fault(data: bytes, name: str = "issues.csv") -> str:
    with pytest.raises(DataError) as caught:
        read_table(data, name=name)
    return str(caught.value)


def test_rows_are_numbered_as_in_a_spreadsheet() -> None:
    table = read_table(b'key,text\nA-1,"one\ntwo"\n\nA-2,three\n', name="issues.csv")
    assert table.header == ("key", "text")
    assert list(table.rows) == [(2, ("A-1", "one\ntwo")), (4, ("A-2", "three"))]


@pytest.mark.parametrize(
    "text", ["key,text\nA-1,one\n", "key;text\nA-1;one\n", "key\ttext\nA-1\tone\n", "\ufeffkey,text\r\nA-1,one\r\n"]
)
def test_separators_line_ends_and_byte_order_marks_of_all_sorts_are_read(text: str) -> None:
    table = read_table(text.encode(), name="issues.csv")
    assert table.header == ("key", "text")
    assert [cells for _, cells in table.rows] == [("A-1", "one")]


def test_quotes_inside_quotes_are_read() -> None:
    assert cells(b'key,text\nA-1,"say ""no"", twice"\n') == [("A-1", 'say "no", twice')]


def test_rows_of_empty_cells_are_passed_over() -> None:
    assert cells(b"key,text\nA-1,one\n,\n , \n") == [("A-1", "one")]


def test_text_that_looks_like_a_number_or_a_missing_value_stays_text() -> None:
    assert cells(b"key,text\n007,NA\n1.0,NULL\n") == [("007", "NA"), ("1.0", "NULL")]


def test_a_cell_longer_than_the_limit_of_the_csv_module_is_read_and_the_limit_stays() -> None:
    limit = csv.field_size_limit()
    assert cells(b"key,text\nA-1," + b"x" * 300_000 + b"\n") == [("A-1", "x" * 300_000)]
    assert csv.field_size_limit() == limit


def test_two_readers_at_once_leave_the_limit_of_the_csv_module() -> None:
    limit = csv.field_size_limit()
    one, other = (csv_cells("key,text\nA-1,one\n", name) for name in ("one.csv", "other.csv"))
    assert next(one) == next(other) == (1, ["key", "text"])
    assert len([*one, *other]) == 2
    assert csv.field_size_limit() == limit


@given(st.lists(st.tuples(CELL.filter(str.strip), CELL), min_size=1, max_size=5))
def test_what_the_csv_module_writes_is_read_back(rows: list[tuple[str, str]]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerows([("key", "text"), *rows])
    assert cells(file.getvalue().encode()) == rows


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5))
def test_json_lines_are_read_back(rows: list[tuple[str, str]]) -> None:
    data = "\n".join(json.dumps({"key": key, "text": text}) for key, text in rows)
    assert cells(data.encode(), "issues.jsonl") == rows


def test_json_values_become_text_and_absent_ones_nothing() -> None:
    data = b'{"key": 7, "points": 3.0, "text": null}\n\n{"key": "B", "done": true, "points": NaN}\n'
    table = read_table(data, name="issues.jsonl")
    assert table.header == ("key", "points", "text", "done")
    assert [number for number, _ in table.rows] == [1, 3]
    assert [cells for _, cells in table.rows] == [("7", "3", None, None), ("B", None, None, "True")]


def test_half_a_surrogate_pair_in_json_is_replaced() -> None:
    ((text,),) = cells(b'{"text": "a\\ud83d b"}', "issues.jsonl")
    assert text == "a\ufffd b"


def test_parquet_is_read_like_json() -> None:
    pytest.importorskip("pyarrow")
    file = io.BytesIO()
    frame = pd.DataFrame({"key": [7, 8], "text": ["one", None], "points": [3.0, 0.5]})
    frame.to_parquet(file)
    table = read_table(file.getvalue(), name="issues.parquet")
    assert table.header == ("key", "text", "points")
    assert list(table.rows) == [(1, ("7", "one", "3")), (2, ("8", None, "0.5"))]


def test_the_named_index_of_a_parquet_file_is_a_column() -> None:
    pytest.importorskip("pyarrow")
    file = io.BytesIO()
    pd.DataFrame({"text": ["one"]}, index=pd.Index(["A-1"], name="key")).to_parquet(file)
    assert read_table(file.getvalue(), name="issues.parquet").header == ("key", "text")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "issues.csv: the file has no rows"),
        (b"\n\n", "issues.csv: the file has no rows"),
        (b"key,text\n", "issues.csv: the file has no rows"),
        (b"key,text\nA-1,one\nA-2,two,three\n", "issues.csv: row 3 has 3 cells, the header has 2"),
        (b"key,text\nA-1\n", "issues.csv: row 2 has 1 cells, the header has 2"),
        (b'key,text\nA-1,"one\nA-2,two\n', "issues.csv: row 2 is not CSV (unexpected end of data)"),
        (b'key,text\nA-1,one\nA-2,"tw"o"\n', "issues.csv: row 3 is not CSV"),
        (b"key,text\nA-1,one\nA-2,caf\xe9\n", "issues.csv: line 3 holds byte 0xe9, which is not UTF-8"),
        ("key,text\nA-1,one\n".encode("utf-16"), "issues.csv: line 1 holds byte 0xff, which is not UTF-8"),
    ],
)
def test_broken_csv_is_refused_with_its_place(data: bytes, sentence: str) -> None:
    assert fault(data).startswith(sentence)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "x.jsonl: the file has no rows"),
        (b'{"key": 1}\n{"key": ', "x.jsonl: line 2 is not JSON"),
        (b'{"key": 1}\n[1, 2]\n', "x.jsonl: line 2 holds a JSON list; expected one object a line"),
        (b'{"key": 1}\n\n3\n', "x.jsonl: line 3 holds a JSON int; expected one object a line"),
    ],
)
def test_broken_json_lines_are_refused_with_their_line(data: bytes, sentence: str) -> None:
    assert fault(data, "x.jsonl").startswith(sentence)


def test_a_file_that_is_no_parquet_is_refused() -> None:
    pytest.importorskip("pyarrow")
    assert fault(b"key,text\n", "x.parquet").startswith("x.parquet: not a Parquet file")


@pytest.mark.parametrize("name", ["issues.xlsx", "issues"])
def test_an_unknown_format_is_refused_with_those_there_are(name: str) -> None:
    message = fault(b"key,text\nA-1,one\n", name)
    assert name in message
    assert ".csv, .tsv, .jsonl, .json or .parquet" in message
