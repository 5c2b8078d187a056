"""Tables of comma-separated values in a reply."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.metrics.library.csv_metrics import longest_table
from pytest_puma.metrics.library.reading import unstripped
from tests.factories import prediction
from tests.metrics.library.replies import question, score

NAMES = ("csv.found", "csv.separator", "csv.columns")


def scores(text: str, **request: Any) -> list[float]:
    return [score(name, text, csv=request) for name in NAMES]


@pytest.mark.parametrize(
    ("text", "request_", "table_found", "separator", "columns"),
    [
        ("name,age\nAnna,31", {"columns": 2, "separator": ","}, 1, 1, 1),
        ("name;age\nAnna;31", {"columns": 2, "separator": ","}, 1, 0, 1),
        ("name,age\nAnna,31", {"columns": 3, "separator": ","}, 1, 1, 0),
        ("name,age\nAnna,31", {"columns": ["name", "age"]}, 1, 1, 1),
        ("name, age \nAnna, 31", {"columns": ["name", "age"]}, 1, 1, 1),
        ("age,name\n31,Anna", {"columns": ["name", "age"]}, 1, 1, 0),
        ("name\tage\nAnna\t31", {"columns": 2}, 1, 1, 1),  # any separator if none is requested
        ("name|age\nAnna|31", {"columns": 2, "separator": "|"}, 1, 1, 1),
        ("name|age\nAnna|31", {"columns": 2}, 0, 0, 0),
        ("name age\nAnna 31", {"columns": 2, "separator": " "}, 1, 1, 1),
        ("The cat sat\non the mat", {"columns": 3}, 0, 0, 0),  # prose is no table with spaces between
        ("name,age", {"columns": 2}, 0, 0, 0),
        ("name\nAnna", {"columns": 1}, 0, 0, 0),
        ("", {"columns": 2}, 0, 0, 0),
        # Quotes hold separators, line ends and quotes.
        ('name;note\nAnna;"a; b"\nBen;c', {"columns": 2, "separator": ";"}, 1, 1, 1),
        ('name,note\nAnna,"two\nlines"\nBen,c', {"columns": 2}, 1, 1, 1),
        ('name,note\nAnna,"a ""b"""', {"columns": 2}, 1, 1, 1),
        # Decimal commas: both separators give records of equal length, so the requested one counts.
        ("a,5;b,5\nc,5;d,5", {"columns": 2, "separator": ";"}, 1, 1, 1),
        ("a,5;b,5\nc,5;d,5", {"columns": 3, "separator": ","}, 1, 1, 1),
        ("Sure, here it is:\n```csv\nname,age\nAnna,31\n```\nHope, this helps", {"columns": 2}, 1, 1, 1),
        ("Here it is:\n\nname,age,town\nAnna,31,Graz\n\nBye", {"columns": 3}, 1, 1, 1),
        ("a,b\nc,d,e\nf,g,h\ni,j,k", {"columns": 3}, 1, 1, 1),  # the longest run
        ("a,b\nc,d\n\ne,f,g\nh,i,j\nk,l,m", {"columns": 3}, 1, 1, 1),
        ("a,b\nc,d\n\ne,f\ng,h", {"columns": 2}, 1, 1, 1),
        ('a,b\n"open,c\nd,e\nf,g', {"columns": 2}, 1, 1, 1),  # a quote that is never closed ends its run only
        ('a,b\nc,"d" e\nf,g\nh,i', {"columns": 2}, 1, 1, 1),
        ("a,b;c\nd,e;f;g", {"columns": 2}, 1, 1, 1),
        ("a,b;c;d\ne,f;g;h", {"columns": 3}, 1, 1, 1),  # without a request that with the most fields
    ],
)
def test_a_table_is_found_with_its_separator_and_columns(
    text: str, request_: dict[str, Any], table_found: int, separator: int, columns: int
) -> None:
    assert scores(text, **request_) == [table_found, separator, columns]


def test_without_a_request_any_table_is_found() -> None:
    assert score("csv.found", "a,b\nc,d") == 1
    assert score("csv.separator", "a;b\nc;d") == 1
    assert score("csv.found", "a") == score("csv.separator", "a") == 0


def test_the_longest_table_has_all_its_records() -> None:
    table = longest_table('x\na,"b\nc"\nd,e\nf')
    assert table is not None
    assert (table.separator, table.rows) == (",", (("a", "b\nc"), ("d", "e")))
    assert longest_table("a,b\nc,d\n\ne,f\ng,h") == longest_table("a,b\nc,d")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a\tb\nc\t", (("a", "b"), ("c", ""))),
        ("\tb\nc\td\n", (("", "b"), ("c", "d"))),
        ("```tsv\na\tb\nc\t\n```", (("a", "b"), ("c", ""))),
        (" a,b\nc,\n\n", (("a", "b"), ("c", ""))),
    ],
)
def test_an_empty_field_at_an_end_of_the_table_is_kept(text: str, rows: tuple[tuple[str, ...], ...]) -> None:
    table = longest_table(text)
    assert table is not None
    assert table.rows == rows


@pytest.mark.parametrize("around", ["", " ", "\n"])
def test_the_white_space_that_a_reply_loses_may_be_an_empty_field(around: str) -> None:
    raw = f"{around}name\tage\nAnna\t{around}"
    given = prediction("s1", answer=raw.strip(), reply=raw.strip(), raw=(raw,))
    wanted = question(csv={"columns": ["name", "age"]}, keys=["0.age"], format="csv")
    assert [LIBRARY[name].score(wanted, given) for name in ("csv.columns", "keys")] == [1, 1]
    thinking = prediction("s1", answer="a,b\nc,d", reply="a,b\nc,d", raw=("<think>e,f\ng,h\ni,j</think>a,b\nc,d",))
    assert unstripped(thinking) == "a,b\nc,d"


@pytest.mark.parametrize("line", ["\n", "a\n", "a,b\n", '"a\n', "a\tb\nc\n"])
def test_a_long_text_is_searched_for_tables_in_linear_time(line: str) -> None:
    longest_table(line * 20_000)


@pytest.mark.parametrize("name", NAMES)
def test_none_applies_to_samples_without_a_table(name: str) -> None:
    assert score(name, "a,b\nc,d", csv=None) is None


@pytest.mark.parametrize(
    "request_",
    [
        "columns",
        {"columns": 0},
        {"columns": "name"},
        {"columns": [1]},
        {"columns": 2, "separator": ",,"},
        {"columns": 2, "separator": ""},
        {"columns": 2, "separator": '"'},
        {"columns": 2, "separator": "\n"},
        {"columns": 2, "separator": 1},
        {"columns": 2, "delimiter": ","},
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_an_invalid_request_is_refused(name: str, request_: Any) -> None:
    with pytest.raises(
        SettingsError, match=f"^{name}: the context of sample 's1' has .* as 'csv'; expected a dictionary"
    ):
        score(name, "a,b\nc,d", csv=request_)


@pytest.mark.parametrize("context", [{}, {"csv": {}}, {"csv": {"separator": ","}}])
def test_columns_must_be_requested_to_be_checked(context: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"^csv\.columns: the context of sample 's1' has .* as 'csv'"):
        score("csv.columns", "a,b\nc,d", **context)


@given(
    rows=st.lists(
        st.tuples(*[st.text("ab ,;\t'\"\n", min_size=1, max_size=5)] * 3).filter(
            lambda row: "".join(row).strip() != ""
        ),
        min_size=2,
        max_size=5,
    ),
    separator=st.sampled_from([",", ";", "\t", "|"]),
)
# With tabs it has one record more, but they begin in its second line.
@example(rows=[(";", "\n\t", "\n"), ("\t", "\n\t;", ";")], separator=",")
def test_any_table_that_python_writes_is_read(rows: list[tuple[str, ...]], separator: str) -> None:
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    table = longest_table(stream.getvalue(), separator)
    assert table is not None
    assert table.separator == separator
    assert table.rows == tuple(rows)
