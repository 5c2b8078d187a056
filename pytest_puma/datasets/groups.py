"""Groups of a scenario's rows, and their selection by subject.

    --puma-subject "law,med*"      the rows with a value of a group column that matches one of the patterns

The case of letters does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_puma.core import SettingsError
from pytest_puma.core.metric_name import Slice
from pytest_puma.datasets.frames import check_columns, to_records
from pytest_puma.datasets.order import plain_text
from pytest_puma.phrases import there_are

if TYPE_CHECKING:
    import pandas as pd

    from pytest_puma.core import Scenario

#: Maximum number of rows to search for subjects, as a scenario may generate rows without end.
MAX_ROWS = 100_000
#: Minimum similarity of a misspelt group: `de` is `de-DE`.
_SIMILARITY = 0.5


class Groups:
    """The groups of all rows of a scenario, which are read when they are first needed."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._scenario, self._seed = scenario, seed

    def absent(self, part: Slice | None) -> str:
        """Return why no row is in a slice, with the existing values; empty if one is, or if it names no group."""
        if part is None or part.fold is not None:
            return ""
        if any(map(part.includes, self._rows)):
            return ""
        wanted = dict(part.values)
        for key, value in wanted.items():
            names = sorted({row[key] for row in self._rows})
            if value not in names:
                there = there_are(value, names, similarity=_SIMILARITY)
                return f"no row of {self._scenario.name} has {key}={value}; {there}"
        both = " and ".join(f"{key}={value}" for key, value in wanted.items())
        return f"no row of {self._scenario.name} has {both}; expected values that a row has together"

    @cached_property
    def _rows(self) -> list[dict[str, str]]:
        return _grouped_rows(self._scenario, self._scenario.sample(MAX_ROWS, self._seed))


def groups_of(scenario: Scenario, row: Mapping[str, Any]) -> dict[str, str]:
    """Return the value of each group column in a row, as text."""
    return {column: plain_text(row[column]) for column in scenario.group_columns}


def matches(subject: str, values: Iterable[str]) -> bool:
    """Return True if the pattern matches one of the values."""
    return any(fnmatchcase(value.casefold(), subject.casefold()) for value in values)


def group_values(scenario: Scenario, seed: int) -> tuple[str, ...]:
    """Return all values of the scenario's group columns, sorted."""
    rows = _grouped_rows(scenario, scenario.sample(MAX_ROWS, seed))
    return tuple(sorted({value for groups in rows for value in groups.values()}))


def rows_of_subjects(scenario: Scenario, n: int, seed: int, subjects: Collection[str]) -> pd.DataFrame:
    """Return the first `n` rows of the scenario whose groups match one of the subjects, or all there are.

    A `SettingsError` lists the existing values if no row matches.
    """
    size = n
    while True:
        # `sample(n)` is a prefix of any longer one, so that more rows leave the first ones as they are.
        frame = scenario.sample(size, seed)
        rows = list(enumerate(_grouped_rows(scenario, frame)))
        matching = [at for at, groups in rows if any(matches(subject, groups.values()) for subject in subjects)]
        if len(matching) >= n or len(rows) < size or size >= MAX_ROWS:
            break
        size = min(4 * size, MAX_ROWS)
    if not matching:
        raise no_subject(next(iter(subjects)), scenario.name, group_values(scenario, seed))
    return frame.iloc[matching[:n]]


def no_subject(subject: str, scenario: str, values: Collection[str]) -> SettingsError:
    """Return the error for a pattern that no group of the scenario matches."""
    return SettingsError(f"subject {subject!r} matches no group of {scenario}; {there_are(subject, values)}")


def _grouped_rows(scenario: Scenario, frame: pd.DataFrame) -> list[dict[str, str]]:
    """Return the groups of each row."""
    check_columns(scenario, frame)
    return [groups_of(scenario, row) for row in to_records(frame[list(scenario.group_columns)])]
