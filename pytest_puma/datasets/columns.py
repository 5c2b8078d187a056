"""The columns that a scenario declares, looked up in its rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_puma.core import DataError
from pytest_puma.phrases import shown

if TYPE_CHECKING:
    from pytest_puma.core import Scenario


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
    declared = (*(() if scenario.key is None else (scenario.key,)), *scenario.unit_columns, *scenario.group_columns)
    if missing := [name for name in declared if name not in names]:
        msg = f"scenario {scenario.name!r}: its rows have no column {missing[0]!r}; they have: {', '.join(names)}"
        raise DataError(msg)


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
