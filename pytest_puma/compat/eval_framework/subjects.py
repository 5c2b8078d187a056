"""The subjects of a task, and the files of the data that have them.

A split is one file, as `test.jsonl`, whose column `subject` sorts its rows; or it is a folder with a file for each
subject, as `test/Europe.jsonl`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from pytest_puma.compat.eval_framework.nouns import NO_SUBJECT
from pytest_puma.core import DataError
from pytest_puma.phrases import there_are

COLUMN = "subject"


def names(subjects: Sequence[Any]) -> tuple[str, ...]:
    """Return the subjects as text; empty for a task without subjects."""
    texts = tuple(map(_name, subjects))
    return () if texts == (NO_SUBJECT,) else texts


def files(path: Path) -> list[tuple[str, Path]]:
    """Return the data files of a split, each with the subject that its name gives; empty for a single file."""
    if not path.is_dir():
        return [("", path)]
    return sorted((file.name.partition(".")[0], file) for file in path.iterdir() if file.is_file())


def with_subject(
    rows: Iterable[tuple[str, Mapping[str, Any]]], subjects: Collection[str], *, owner: str
) -> Iterator[dict[str, Any]]:
    """Yield the rows with their subject as text; as they are if the task has none.

    `rows`: each after the subject of its file. Raises a `DataError` if a row has none, though the task has several.
    """
    for stem, row in rows:
        subject = stem or row.get(COLUMN) or (next(iter(subjects)) if len(subjects) == 1 else "")
        if subjects and not subject:
            msg = (
                f"{owner}: SUBJECTS are {', '.join(subjects)}, but a row has no column {COLUMN!r}; add the column, or "
                f"make a folder for each split with a file for each subject; the row has: {', '.join(row)}"
            )
            raise DataError(msg)
        yield {**row, COLUMN: _name(subject)} if subjects else dict(row)


def check_all_there(subjects: Collection[str], available: Collection[str], *, owner: str) -> None:
    """Raise a `DataError` for a subject without rows."""
    absent = next((subject for subject in subjects if subject not in available), None)
    if absent is not None:
        msg = f"{owner}: no row of the subject {absent!r}; {there_are(absent, sorted(available))}"
        raise DataError(msg)


def _name(subject: Any) -> str:
    value = subject.value if isinstance(subject, Enum) else subject
    return ", ".join(map(_name, value)) if isinstance(value, (tuple, list)) else str(value)
