"""Metrics of replies with a table of comma-separated values: `csv.found`, `csv.separator`, `csv.columns`.

context = {"csv": {"columns": ["name", "price"], "separator": ";"}}

`csv` None: this sample's reply is no table, so none of them applies. The table of a reply is the longest run of records
with the same number of fields:

Name;Price
"Nut; bolt";3
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from pytest_puma.core import Prediction, Sample
from pytest_puma.metrics.library.reading import Count, argument, completion_metric, unstripped
from pytest_puma.replies.fences import longest

#: A space is a separator only if it is asked for, as all prose would be a table otherwise.
SEPARATORS = (",", ";", "\t")
#: Records of a table, and fields of a record.
_MIN = 2
#: Lines of a record: quotes that never end would be read to the end of the text from each line anew.
_MAX_LINES = 200
_EXPECTED = (
    'a dictionary with "columns", a number from 1 or a list of names, and "separator", one character; '
    "or None if the reply is no table"
)


@dataclass(frozen=True, slots=True)
class CsvTable:
    """Records with the same number of fields, at least two of both."""

    separator: str
    rows: tuple[tuple[str, ...], ...]


class _Request(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table that a sample asks for."""

    columns: Count | list[str] | UnsetType = UNSET
    separator: Annotated[str, Meta(pattern=r'^[^"\r\n]$', max_length=1)] | UnsetType = UNSET


class _RequestOfColumns(_Request, frozen=True, kw_only=True, forbid_unknown_fields=True):
    columns: Count | list[str]


def longest_table(text: str, wanted: str | None = None) -> CsvTable | None:
    """Return the table with the most records; the longest fenced block is the text if there is one.

    Of equally long ones it is that with the wanted separator, then that with the most fields. If all lines
    together are a table with the wanted separator, it is always this one. None without a table.
    """
    # A tab at an end may be the separator of an empty field.
    lines = longest(text).strip(" \r\n").splitlines()
    if wanted is not None:
        rows, end = _run(lines, 0, wanted)
        if len(rows) >= _MIN and end == len(lines):
            return CsvTable(separator=wanted, rows=tuple(rows))
    separators = dict.fromkeys(SEPARATORS if wanted is None else (wanted, *SEPARATORS))
    tables = [table for separator in separators for table in _tables(lines, separator)]
    return max(tables, key=lambda table: (len(table.rows), table.separator == wanted, len(table.rows[0])), default=None)


def _tables(lines: Sequence[str], separator: str) -> Iterator[CsvTable]:
    """The runs of records with the same number of fields."""
    start = 0
    while start < len(lines):
        rows, end = _run(lines, start, separator)
        if len(rows) >= _MIN:
            yield CsvTable(separator=separator, rows=tuple(rows))
        start = end


def _run(lines: Sequence[str], start: int, separator: str) -> tuple[list[tuple[str, ...]], int]:
    """The records from a line on with as many fields as the first one, and the line after them."""
    # Quotes may hold separators and ends of lines, so only a reader knows where a record ends.
    reader = csv.reader(_lines_of_records(lines, start, lambda: end), delimiter=separator, strict=True)
    rows: list[tuple[str, ...]] = []
    end = start
    try:
        for row in reader:
            if len(row) < _MIN or (rows and len(row) != len(rows[0])):
                break
            rows.append(tuple(row))
            end = start + reader.line_num
    except csv.Error:
        pass
    return rows, max(end, start + 1)


def _lines_of_records(lines: Sequence[str], start: int, record: Callable[[], int]) -> Iterator[str]:
    """The lines from `start` on, up to a record that has too many; `record`: the first line of the present one."""
    for number in range(start, len(lines)):
        if number - record() >= _MAX_LINES:
            return
        yield f"{lines[number]}\n"


def _has_separator(table: CsvTable, request: _Request) -> bool:
    """Whether the separator is the requested one; any, if none is requested."""
    return request.separator in {UNSET, table.separator}


def _has_columns(table: CsvTable, request: _Request) -> bool:
    """Whether the records have as many fields as requested; whether the first one has the requested names."""
    header = [field.strip() for field in table.rows[0]]
    return request.columns in (len(header), header)


def _score(
    metric: str, check: Callable[[CsvTable, Any], bool], form: type[_Request], **default: _Request
) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function of a check of the table: 0 without a table, None if the reply is no table."""

    def score(sample: Sample, prediction: Prediction) -> float | None:
        request = argument(sample, "csv", form | None, metric=metric, expected=_EXPECTED, **default)
        if request is None:
            return None
        table = longest_table(unstripped(prediction), request.separator or None)
        return float(table is not None and check(table, request))

    return score


METRICS = (
    completion_metric(name="csv.found", score=_score("csv.found", lambda *_: True, _Request, default=_Request())),
    completion_metric(
        name="csv.separator", score=_score("csv.separator", _has_separator, _Request, default=_Request())
    ),
    completion_metric(name="csv.columns", score=_score("csv.columns", _has_columns, _RequestOfColumns)),
)
