"""Metrics of replies with a table of comma-separated values: `csv.found`, `csv.separator`, `csv.columns`.

context = {"csv": {"columns": ["name", "price"], "separator": ";"}}

`csv` None: this sample's reply is no table, so none of them applies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pytest_puma.core import Metric, Prediction, Sample
from pytest_puma.metrics.library.arguments import argument, is_count, optional
from pytest_puma.metrics.library.csv_table import Table, longest_table, unstripped

_Request: TypeAlias = Mapping[str, Any]


def is_table(_: Table, __: _Request) -> bool:
    """Return True: there is a table."""
    return True


def separator(table: Table, request: _Request) -> bool:
    """Whether the separator is the requested one; any, if none is requested."""
    return "separator" not in request or bool(table.separator == request["separator"])


def columns(table: Table, request: _Request) -> bool:
    """Whether the records have as many fields as requested; whether the first one has the requested names."""
    wanted = request["columns"]
    header = [field.strip() for field in table.rows[0]]
    return len(header) == wanted if isinstance(wanted, int) else header == list(wanted)


def _score(name: str, check: Callable[[Table, _Request], bool]) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function of a check of the table: 0 without a table."""

    def score(sample: Sample, prediction: Prediction) -> float | None:
        request = _request(sample, name)
        if request is None:
            return None
        table = longest_table(unstripped(prediction), request.get("separator"))
        return float(table is not None and check(table, request))

    return score


def _request(sample: Sample, metric: str) -> _Request | None:
    request: _Request | None
    if metric == "csv.columns":
        request = argument(sample, "csv", metric=metric, expected=_EXPECTED, valid=_has_columns)
    else:
        request = optional(sample, "csv", {}, metric=metric, expected=_EXPECTED, valid=_is_request)
    return request


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
