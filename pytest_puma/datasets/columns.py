"""The columns that a scenario declares, looked up in its rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_puma.core import DataError

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
