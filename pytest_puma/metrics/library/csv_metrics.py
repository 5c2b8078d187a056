"""Metrics of replies with a table of comma-separated values: `csv.found`, `csv.separator`, `csv.columns`.

context = {"csv": {"columns": ["name", "price"], "separator": ";"}}

`csv` None: this sample's reply is no table, so none of them applies. The table of a reply is the longest run of records
with the same number of fields:

Name;Price
"Nut; bolt";3
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pytest_puma.core import Metric, Prediction, Sample
from pytest_puma.metrics.library.arguments import argument, is_count
from pytest_puma.metrics.library.fences import longest

#: A space is a separator only if it is asked for, as all prose would be a table otherwise.
SEPARATORS = (",", ";", "\t")
#: Records of a table, and fields of a record.
_MIN = 2
#: Lines of a record: quotes that never end would be read to the end of the text from each line anew.
_MAX_LINES = 200
_Request: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CsvTable:
    """Records with the same number of fields, at least two of both."""

    separator: str
    rows: tuple[tuple[str, ...], ...]


def unstripped(prediction: Prediction) -> str:
    """Return the text of a prediction with the white space that the reply has around it."""
    reply = prediction.raw[-1] if prediction.raw else ""
    return reply if reply.strip() == prediction.text else prediction.text


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


def is_table(_: CsvTable, __: _Request) -> bool:
    """Return True: there is a table."""
    return True


def separator(table: CsvTable, request: _Request) -> bool:
    """Whether the separator is the requested one; any, if none is requested."""
    return "separator" not in request or bool(table.separator == request["separator"])


def columns(table: CsvTable, request: _Request) -> bool:
    """Whether the records have as many fields as requested; whether the first one has the requested names."""
    wanted = request["columns"]
    header = [field.strip() for field in table.rows[0]]
    return len(header) == wanted if isinstance(wanted, int) else header == list(wanted)


def _score(name: str, check: Callable[[CsvTable, _Request], bool]) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function of a check of the table: 0 without a table."""

    def score(sample: Sample, prediction: Prediction) -> float | None:
        request = _request(sample, name)
        if request is None:
            return None
        table = longest_table(unstripped(prediction), request.get("separator"))
        return float(table is not None and check(table, request))

    return score


def _request(sample: Sample, metric: str) -> Any:
    """The request of the context; None if the reply is no table."""
    if metric == "csv.columns":
        return argument(sample, "csv", metric=metric, expected=_EXPECTED, valid=_has_columns)
    return argument(sample, "csv", metric=metric, expected=_EXPECTED, valid=_is_request, default={})


def _is_request(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, Mapping) or not value.keys() <= {"columns", "separator"}:
        return False
    return _is_separator(value.get("separator", ",")) and _are_columns(value.get("columns", 1))


def _is_separator(value: Any) -> bool:
    return isinstance(value, str) and _CHARACTER.fullmatch(value) is not None


def _has_columns(value: Any) -> bool:
    return _is_request(value) and (value is None or "columns" in value)


def _are_columns(value: Any) -> bool:
    return is_count(value) or (isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value))


_CHARACTER = re.compile(r'[^"\r\n]')
_EXPECTED = (
    'a dictionary with "columns", a number from 1 or a list of names, and "separator", one character; '
    "or None if the reply is no table"
)
_CHECKS = {"csv.found": is_table, "csv.separator": separator, "csv.columns": columns}

METRICS = tuple(
    Metric(name=name, score=_score(name, check), kinds=frozenset({"completion"})) for name, check in _CHECKS.items()
)
