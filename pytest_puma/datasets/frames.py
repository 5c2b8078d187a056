"""Rows as data frames, and the columns that they need. pandas is imported on first use.

The columns of a table of text become those of the scenario: matched names, cleaned cells, checked gold answers.

    issuekey,Summary,description,storypoint        ->   item_id, title, description, story_points

A column matches in any case, with or without blanks, underscores and hyphens.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_puma.core import DataError, Scenario
from pytest_puma.phrases import counted, shown
from pytest_puma.task_types import TaskKind

if TYPE_CHECKING:
    import pandas as pd


#: The name of an index with the number of each row in its file.
ROW = "row"
Frame: TypeAlias = "pd.DataFrame"
# How databases and pandas write a missing value into text files.
_NOTHING = frozenset({"", "null", "nan", "\\n"})
# Beside an issue key, `id` is the tracker's internal number.
_INTERNAL = "id"


def to_frame(
    records: Sequence[Mapping[str, Any]], *, columns: Sequence[str], rows: Sequence[int] | None = None
) -> Frame:
    """Return a frame of these columns, of plain Python objects so that no value changes its type; `rows`: its index."""
    import pandas as pd

    index = None if rows is None else pd.Index(rows, name=ROW)
    return pd.DataFrame([dict(record) for record in records], columns=list(columns), dtype=object, index=index)


def row_names(frame: Frame) -> list[str]:
    """Return the name of each row in messages: `row 5` of a file, `index 3` of a frame without a file."""
    word = ROW if frame.index.name == ROW else "index"
    return [f"{word} {label}" for label in frame.index]


def to_records(frame: Frame) -> list[dict[str, Any]]:
    """Return the rows as dictionaries of plain Python values, `None` for a missing value."""
    import numpy as np
    import pandas as pd

    def plain(value: Any) -> Any:
        if type(value) is str:
            return value
        if pd.api.types.is_scalar(value) and pd.isna(value):
            return None
        return pd.Series([value]).tolist()[0] if isinstance(value, np.generic) else value

    names = [str(name) for name in frame.columns]
    if not names:
        return [{} for _ in frame.index]
    columns = (map(plain, frame.iloc[:, index].tolist()) for index in range(len(names)))
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


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
    if missing := [name for name in declared_columns(scenario) if name not in names]:
        msg = f"scenario {scenario.name!r}: its rows have no column {missing[0]!r}; they have: {', '.join(names)}"
        raise DataError(msg)


def declared_columns(scenario: Scenario) -> tuple[str, ...]:
    """Return the columns that identify a row, and name its units and groups."""
    return (*(() if scenario.key is None else (scenario.key,)), *scenario.unit_columns, *scenario.group_columns)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A file's header, and the number and the cells of each row; `None` for a cell that the file does not have.

    `name` is the file in messages. A table without rows is refused.
    """

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str | None, ...]], ...]

    def __post_init__(self) -> None:
        """Raise a `DataError` for a table without rows."""
        if not self.rows:
            msg = f"{self.name}: the file has no rows; expected one row for each question, under a header"
            raise DataError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLayout:
    """The required columns of a file: a key for each row, text, and the gold answer.

    `kind` says which gold answers are valid; `labels` are all of them if it has labels. `names` maps a column to its
    other names; a column that occurs only there may be absent. `drop`: keep only the first of equal rows. `groups` are
    the group columns.
    """

    key: str | None
    text: tuple[str, ...]
    label: str
    kind: TaskKind
    labels: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    drop: bool = False
    groups: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that every file needs."""
        return (*(() if self.key is None else (self.key,)), *self.text, self.label, *self.groups)

    def gold(self, text: str) -> str | None:
        """Return a gold answer in its standard spelling, `None` for an invalid one."""
        return self.kind.gold(text, self.labels)


def arrange(table: Table, layout: FileLayout) -> Frame:
    """Return the table's rows under the layout's column names, all cells as text, `''` for an empty cell.

    Other columns follow under their own names; the index is the number of each row in the file. A `DataError` names the
    file, the row and the column if a column is missing or repeated, or if a row has no key, the key of another row, no
    text, or no valid gold answer.
    """
    columns = _find_columns(table, layout)
    records: list[dict[str, str]] = []
    faults: list[str] = []
    first_rows: dict[str, int] = {}
    numbers: list[int] = []
    seen: set[tuple[str, ...]] = set()
    for number, cells in table.rows:
        record = {name: cell_text(cells[position]) for name, position in columns.items()}
        if layout.drop and tuple(record.values()) in seen:
            continue
        seen.add(tuple(record.values()))
        numbers.append(number)
        key = record[layout.key] if layout.key is not None else ""
        twin = first_rows.setdefault(key, number)
        for column, fault in _faults(record, layout, twin=None if twin == number else twin):
            row = f"row {number} (key {key})" if key else f"row {number}"
            faults.append(f"{row}, column {table.header[columns[column]]!r}: {fault}")
        records.append(record | {layout.label: layout.gold(record[layout.label]) or ""})
    if faults:
        note = f" ({counted(len(faults) - 1, 'more fault')} in the file)" if len(faults) > 1 else ""
        msg = f"{table.name}: {faults[0]}{note}"
        raise DataError(msg)
    return to_frame(records, columns=list(columns), rows=numbers)


def _find_columns(table: Table, layout: FileLayout) -> dict[str, int]:
    """The position of each column in the header: those of the layout, then the others."""
    positions: dict[str, int] = {}
    for column in dict.fromkeys((*layout.required, *layout.names)):
        matches = _matches(table.header, column, layout.names.get(column, ()))
        if len(matches) > 1:
            both = " and ".join(repr(table.header[position]) for position in matches)
            msg = f"{table.name}: the columns {both} both mean {column!r}; rename or remove all but one"
            raise DataError(msg)
        positions.update((column, position) for position in matches)
    if missing := [column for column in layout.required if column not in positions]:
        names = layout.names.get(missing[0], ())
        understood = f" (also understood: {', '.join(names)})" if names else ""
        msg = f"{table.name}: no column {missing[0]!r}{understood}; the file has: {', '.join(table.header)}"
        raise DataError(msg)
    for position, name in enumerate(table.header):
        if name.strip() and position not in positions.values():
            # An export may repeat a column, one for each comment or sprint: the first is used.
            positions.setdefault(name.strip(), position)
    return positions


def _matches(header: tuple[str, ...], column: str, other_names: tuple[str, ...]) -> list[int]:
    accepted = {_normal(name) for name in (column, *other_names)}
    matches = [position for position, name in enumerate(header) if _normal(name) in accepted]
    if len(matches) > 1 and _normal(column) != _INTERNAL:
        return [position for position in matches if _normal(header[position]) != _INTERNAL] or matches
    return matches


def _normal(name: str) -> str:
    return name.casefold().translate({ord(sign): None for sign in " _-\t\n\r"})


def cell_text(cell: str | None) -> str:
    """Return the text of a cell, empty for a missing value."""
    text = (cell or "").replace("\r\n", "\n").replace("\r", "\n").strip()
    return "" if text.casefold() in _NOTHING else text


def _faults(record: Mapping[str, str], layout: FileLayout, *, twin: int | None) -> Iterator[tuple[str, str]]:
    """Each invalid column of the row, with the fault; `twin` is the number of an earlier row with the same key."""
    if layout.key is not None and not record[layout.key]:
        yield layout.key, "there is no key; each row needs its own"
    elif layout.key is not None and twin is not None:
        yield (
            layout.key,
            f'row {twin} has the same key; each row needs its own; duplicates = "drop" leaves out equal rows',
        )
    if layout.text and not any(record[column] for column in layout.text):
        yield layout.text[0], f"nothing to read in {' and '.join(layout.text)}; remove the row"
    if layout.gold(record[layout.label]) is None:
        text = repr(record[layout.label]) if record[layout.label] else "nothing"
        yield layout.label, f"found {text}, expected {layout.kind.expected(layout.labels)}; fix or remove the row"
