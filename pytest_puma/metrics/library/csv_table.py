"""A table of comma-separated values in a reply: the longest run of records with the same number of fields.

Name;Price
"Nut; bolt";3
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pytest_puma.core import Prediction
from pytest_puma.metrics.library.fences import longest

#: A space is a separator only if it is asked for, as all prose would be a table otherwise.
SEPARATORS = (",", ";", "\t")
#: Records of a table, and fields of a record.
_LEAST = 2
#: Lines of a record: quotes that never end would be read to the end of the text from each line anew.
_MOST_LINES = 200


@dataclass(frozen=True, slots=True)
class Table:
    """Records with the same number of fields, at least two of both."""

    separator: str
    rows: tuple[tuple[str, ...], ...]


def unstripped(prediction: Prediction) -> str:
    """Return the text of a prediction with the white space that the reply has around it."""
    reply = prediction.raw[-1] if prediction.raw else ""
    return reply if reply.strip() == prediction.text else prediction.text


def longest_table(text: str, wanted: str | None = None) -> Table | None:
    """Return the table with the most records; the longest fenced block is the text if there is one.

    Of equally long ones it is that with the wanted separator, then that with the most fields. If all lines
    together are a table with the wanted separator, it is always this one. None without a table.
    """
    # A tab at an end may be the separator of an empty field.
    lines = longest(text).strip(" \r\n").splitlines()
    if wanted is not None:
        rows, end = _run(lines, 0, wanted)
        if len(rows) >= _LEAST and end == len(lines):
            return Table(separator=wanted, rows=tuple(rows))
    separators = dict.fromkeys(SEPARATORS if wanted is None else (wanted, *SEPARATORS))
    tables = [table for separator in separators for table in _tables(lines, separator)]
    return max(tables, key=lambda table: (len(table.rows), table.separator == wanted, len(table.rows[0])), default=None)


def _tables(lines: Sequence[str], separator: str) -> Iterator[Table]:
    """The runs of records with the same number of fields."""
    start = 0
    while start < len(lines):
        rows, end = _run(lines, start, separator)
        if len(rows) >= _LEAST:
            yield Table(separator=separator, rows=tuple(rows))
        start = end


def _run(lines: Sequence[str], start: int, separator: str) -> tuple[list[tuple[str, ...]], int]:
    """The records from a line on with as many fields as the first one, and the line after them."""
    # Quotes may hold separators and ends of lines, so only a reader knows where a record ends.
    reader = csv.reader(_lines_of_records(lines, start, lambda: end), delimiter=separator, strict=True)
    rows: list[tuple[str, ...]] = []
    end = start
    try:
        for row in reader:
            if len(row) < _LEAST or (rows and len(row) != len(rows[0])):
                break
            rows.append(tuple(row))
            end = start + reader.line_num
    except csv.Error:
        pass
    return rows, max(end, start + 1)


def _lines_of_records(lines: Sequence[str], start: int, record: Callable[[], int]) -> Iterator[str]:
    """The lines from `start` on, up to a record that has too many; `record`: the first line of the present one."""
    for number in range(start, len(lines)):
        if number - record() >= _MOST_LINES:
            return
        yield f"{lines[number]}\n"
