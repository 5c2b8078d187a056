"""The fields of samples: those that reveal the gold answer, those in natural language, and the groups of rows.

    --puma-subject "law,med*"      the rows with a value of a group column that matches one of the patterns

The case of letters does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import compress
from typing import Any

from pytest_puma.core import Sample, Scenario, SettingsError
from pytest_puma.core.metric_name import Slice
from pytest_puma.datasets.frames import Frame, check_columns, declared_columns, to_records
from pytest_puma.datasets.order import plain_text
from pytest_puma.phrases import did_you_mean, shortened, there_are

#: The reason for a gold answer, in a pool of examples.
_RATIONALE = "rationale"
#: Maximum number of characters of a sample in a message.
_CHARACTERS = 40
#: Maximum number of rows to search for subjects, as a scenario may generate rows without end.
MAX_ROWS = 100_000
#: Minimum similarity of a misspelt group: `de` is `de-DE`.
_SIMILARITY = 0.5


def hidden_fields(scenario: Scenario, samples: Sequence[Sample]) -> frozenset[str]:
    """Return the fields that the scenario declares, and those that `gold_label` reads and returns in every sample.

    A field that is only an input of the gold answer, as a term of a sum, may belong to the question. A `SettingsError`
    names a declared field that no sample has.
    """
    declared = tuple(scenario.hidden_fields())
    if not samples:
        return frozenset(declared)
    _check_known(scenario, declared, samples)
    labels = tuple(scenario.valid_labels())
    row = _RecordingRow(samples[0].fields)
    scenario.gold_label(row)
    revealing = {
        name
        for name in row.names_read - {*scenario.text_fields, *declared}
        if all(scenario.kind.gold(plain_text(sample.fields.get(name)), labels) == sample.gold for sample in samples)
    }
    return frozenset((*declared, *revealing))


def _check_known(scenario: Scenario, declared: Sequence[str], samples: Sequence[Sample]) -> None:
    """Refuse a field that no sample has: misspelt, it would hide nothing.

    A column that a file may lack is among the `columns` of its scenario.
    """
    available = _names(samples)
    columns = getattr(scenario, "columns", None)
    for name in declared:
        if name not in available and name not in (columns or ()):
            hint = did_you_mean(name, available)
            remedy = "" if hint or columns is None else f"; if files may lack it: columns = {{{name!r}: ()}}"
            found = f"{scenario.name}: hidden_fields() has {name!r}, which no row has; {hint}"
            msg = f"{found}the rows have: {', '.join(available)}{remedy}"
            raise SettingsError(msg)


class _RecordingRow(dict[str, Any]):
    """A row that records which of its fields are read."""

    def __init__(self, *fields: Any) -> None:
        super().__init__(*fields)
        self.names_read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names_read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.names_read.add(name)
        return super().get(name, default)


def text_fields(scenario: Scenario, samples: Sequence[Sample], hidden: Collection[str]) -> tuple[str, ...]:
    """Return the declared text fields that the samples have, or else all their fields of text.

    Fields that reveal the gold answer (`hidden`), identify the row or name its units or groups are excluded.
    """
    available = _names(samples)
    if declared := tuple(name for name in scenario.text_fields if name in available):
        return declared
    excluded = {*hidden, *declared_columns(scenario), _RATIONALE}
    return tuple(name for name in available if name not in excluded and _is_text(name, samples))


def beginning(sample: Sample, texts: Sequence[str]) -> str:
    """Return the beginning of these fields of a sample, in one line."""
    text = " ".join(" ".join(str(sample.fields.get(name) or "") for name in texts).split())
    return shortened(text, _CHARACTERS)


def _names(samples: Sequence[Sample]) -> list[str]:
    """All fields that samples have, in their order."""
    return list(dict.fromkeys(name for sample in samples for name in sample.fields))


def _is_text(name: str, samples: Sequence[Sample]) -> bool:
    values = [sample.fields.get(name) for sample in samples]
    return all(value is None or isinstance(value, str) for value in values) and any(values)


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
                expected = there_are(value, names, similarity=_SIMILARITY)
                return f"no row of {self._scenario.name} has {key}={value}; {expected}"
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


def first_rows(scenario: Scenario, n: int, seed: int, subjects: Collection[str]) -> Frame:
    """Return the first `n` rows of the scenario, of these subjects if there are any, or all there are."""
    return rows_of_subjects(scenario, n, seed, subjects) if subjects else scenario.sample(n, seed)


def all_rows(scenario: Scenario, seed: int, subjects: Collection[str]) -> list[dict[str, Any]]:
    """Return the rows from which samples are drawn, at most `MAX_ROWS` of them."""
    return to_records(first_rows(scenario, MAX_ROWS, seed, subjects))


def rows_of_subjects(scenario: Scenario, n: int, seed: int, subjects: Collection[str]) -> Frame:
    """Return the first `n` rows of the scenario whose groups match one of the subjects, or all there are.

    A `SettingsError` lists the existing values if no row matches.
    """
    size = n
    while True:
        # `sample(n)` is a prefix of any longer one, so that more rows leave the first ones as they are.
        frame = scenario.sample(size, seed)
        rows = _grouped_rows(scenario, frame)
        selected = [any(matches(subject, groups.values()) for subject in subjects) for groups in rows]
        matching = list(compress(range(len(rows)), selected))
        if len(matching) >= n or len(rows) < size or size >= MAX_ROWS:
            break
        size = min(4 * size, MAX_ROWS)
    if not matching:
        raise no_subject(next(iter(subjects)), scenario.name, group_values(scenario, seed))
    return frame.iloc[matching[:n]]


def no_subject(subject: str, scenario: str, values: Collection[str]) -> SettingsError:
    """Return the error for a pattern that no group of the scenario matches."""
    return SettingsError(f"subject {subject!r} matches no group of {scenario}; {there_are(subject, values)}")


def _grouped_rows(scenario: Scenario, frame: Frame) -> list[dict[str, str]]:
    """Return the groups of each row."""
    check_columns(scenario, frame)
    return [groups_of(scenario, row) for row in to_records(frame[list(scenario.group_columns)])]
