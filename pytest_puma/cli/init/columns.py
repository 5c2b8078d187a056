"""The columns of a user's file: which ones the model reads, which one has the right answers, which one names a row.

    id,created,title,body,team
    17,2026-01-03,Charged twice,I was charged twice for the same order.,billing

Here `title` has the name of a text, `body` has long cells that differ, the values of `team` repeat, and those of `id`
do not. If two columns could have the right answers, the user decides. Where these are letters of columns, as in
question,A,B,C,D,answer, the columns are choices, and texts, too; each of their letters is a label.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Literal, TypeAlias

from pytest_puma.cli.init.file_column import MAX_LABELS, MAX_NUMERIC_LABELS, MIN_LABELS, TEXT_WORDS, FileColumn
from pytest_puma.core import DataError
from pytest_puma.datasets.frames import FileLayout, Table, cell_text
from pytest_puma.phrases import named, shortened, there_are
from pytest_puma.task_types import KINDS

Task: TypeAlias = Literal["classification", "regression"]

#: The value of `--id` for rows without a name.
NO_KEY = "-"
_KEYS = ("id", "key", "uuid")
#: Values that can only be names of rows: T-1000, PROJ_12, #7.
_CODE = re.compile(r"[^\W\d_]{1,10}[-_]\d+|#\d+")
_LABELS = ("label", "labels", "gold", "goldlabel", "target", "class", "category", "answer", "y")
#: Values of a column that a message quotes, and characters of each.
_QUOTED, _CHARACTERS = 6, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a benchmark, and why each was chosen. `key` is None if no column names the rows.

    `labels`: the valid ones in order, with the letters of choices that no row of the file has as its answer.
    """

    task: Task
    text: tuple[FileColumn, ...]
    label: FileColumn
    labels: tuple[str, ...]
    key: FileColumn | None
    why_text: str
    why_label: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all of them."""
        columns = (*(() if self.key is None else (self.key,)), *self.text, self.label)
        return tuple(column.name for column in columns)

    @property
    def layout(self) -> FileLayout:
        """The requirements on the file."""
        return FileLayout(
            key=None if self.key is None else self.key.name,
            text=tuple(column.name for column in self.text),
            label=self.label.name,
            kind=KINDS[self.task],
            labels=self.labels,
        )


def find_columns(table: Table, *, text: str | None, label: str | None, key: str | None, task: Task | None) -> Columns:
    """Return the columns of a table; a `DataError` lists the candidates if the choice is not clear.

    The arguments are the options of the user, None for what is to be found. `text`: names with commas between them.
    """
    columns = [
        FileColumn(name.strip(), [cell_text(cells[at]) for _, cells in table.rows])
        for at, name in enumerate(table.header)
        if name.strip()
    ]
    found_key = _key(table, columns, key)
    others = [column for column in columns if column is not found_key]
    found_label, why_label = _label(table, others, label, task)
    if task is None:
        _check_numbers(table, found_label)
    task = task or ("regression" if found_label.measured else "classification")
    _check_label(table, found_label, task)
    rest = [column for column in others if column is not found_label]
    choices = _choices(rest, found_label)
    texts, why_text = _text(table, rest, text, found_label, choices.values())
    labels = {*found_label.values, *(letter for letter, column in choices.items() if column in texts)}
    return Columns(
        task=task,
        text=texts,
        label=found_label,
        labels=tuple(sorted(labels)),
        key=found_key,
        why_text=why_text,
        why_label=why_label,
    )


def _key(table: Table, columns: Sequence[FileColumn], name: str | None) -> FileColumn | None:
    """The column that names the rows. Its doubles are an error if it is chosen, or has exactly the name of a key."""
    if name == NO_KEY:
        return None
    exact = [column for column in columns if column.word in _KEYS]
    codes = [column for column in columns if all(map(_CODE.fullmatch, column.values))]
    likely = [*exact, *(column for column in columns if column.word.endswith(_KEYS)), *codes]
    if name is not None:
        exact = likely = [_named(table, columns, name, "--id")]
    differing = next((column for column in likely if column.differs), None)
    if differing or not exact:
        return differing
    fault = f"has {exact[0].double!r} in several rows" if exact[0].double else "has empty cells"
    msg = (
        f"{table.name}: column {exact[0].name!r} {fault}; expected another value in each row; "
        f"fix it, name another column: --id COLUMN, or do without: --id {NO_KEY}"
    )
    raise DataError(msg)


def _label(table: Table, columns: Sequence[FileColumn], name: str | None, task: Task | None) -> tuple[FileColumn, str]:
    """The column of the right answers, and why."""
    if name is not None:
        return _named(table, columns, name, "--label"), "--label"
    labels = [column for word in _LABELS for column in columns if column.word == word]
    if labels:
        return labels[0], "the name of a label"
    short = [column for column in columns if not column.is_text]
    candidates = [column for column in short if (column.repeats and task != "regression") or column.measured]
    if len(candidates) == 1:
        return candidates[0], "the only numbers" if candidates[0].measured else "the only values that repeat"
    names = named(candidates or columns)
    if candidates:
        fault = f"several columns could have the right answers: {names}; choose one: --label {candidates[0].name}"
    else:
        expected = f"expected {MIN_LABELS} to {MAX_LABELS} values that repeat, or numbers"
        fault = f"no column has the right answers: {expected}; the columns are: {names}; name one: --label COLUMN"
    msg = f"{table.name}: {fault}"
    raise DataError(msg)


def _check_numbers(table: Table, label: FileColumn) -> None:
    """Refuse to guess the task of numbers among which some values are none, as 1,5 and large."""
    words = label.words
    if words and len(label.values) - len(words) > max(MAX_NUMERIC_LABELS, len(words)):
        msg = (
            f"{table.name}: column {label.name!r} has numbers, and {quoted(words)}; expected numbers alone: fix the "
            "others and state --task regression; if all are labels: --task classification"
        )
        raise DataError(msg)


def _check_label(table: Table, label: FileColumn, task: Task) -> None:
    """Refuse right answers that no benchmark can be made of."""
    values, fault = label.values, ""
    spellings = {value.casefold(): value for value in reversed(values)}
    twin = next((value for value in values if spellings[value.casefold()] != value), None)
    if len(values) < MIN_LABELS:
        fault = f"has {quoted(values)}; expected at least two different right answers"
    elif task == "classification" and not label.repeats:
        fault = (
            f"has {len(values):,} different values in {len(table.rows):,} rows, such as "
            f"{quoted(values)}; expected labels that repeat, up to {MAX_LABELS}; for numbers: --task regression; "
            "for free text, see docs/tasks/completion.md"
        )
    elif task == "classification" and twin is not None:
        first = spellings[twin.casefold()]
        fault = f"has the labels {first!r} and {twin!r}, which differ in case alone; write them in one way"
    if fault:
        msg = f"{table.name}: column {label.name!r} {fault}"
        raise DataError(msg)


def _text(
    table: Table, columns: Sequence[FileColumn], given: str | None, label: FileColumn, choices: Collection[FileColumn]
) -> tuple[tuple[FileColumn, ...], str]:
    """The columns that the model reads, and why."""
    if given is not None:
        names = [name.strip() for name in given.split(",") if name.strip()]
        if not names:
            msg = f"--text is {given!r}; expected names of columns: a,b"
            raise DataError(msg)
        return tuple(_named(table, columns, name, "--text") for name in names), "--text"
    why = f"the name of a text, or {TEXT_WORDS} words and more that differ"
    if choices:
        why = f"{why}, and the choices that {label.name} names"
    if texts := tuple(column for column in columns if column.readable or column in choices):
        return texts, why
    rest = tuple(column for column in columns if not column.numeric and column.values)
    if len(rest) == 1:
        return rest, "the only other column"
    msg = f"{table.name}: no column has texts; the other columns are: {named(columns)}; name them: --text COLUMNS"
    raise DataError(msg)


def _choices(columns: Sequence[FileColumn], label: FileColumn) -> dict[str, FileColumn]:
    """The choices of a question whose right answers are letters: the columns A to D, or option_a to option_d.

    Letters alone: of other labels, columns of their names may be flags, which give the answer away.
    """
    alphabet, spelled = (ascii_uppercase, str.upper) if label.values[0].isupper() else (ascii_lowercase, str.lower)
    sets: dict[str, dict[str, FileColumn]] = {}
    for column in columns:
        stem, letter = column.name[:-1], spelled(column.name[-1])
        if letter in alphabet and not stem[-1:].isalnum():
            sets.setdefault(stem, {})[letter] = column
    fitting = [found for found in sets.values() if {*label.values} <= found.keys() <= {*alphabet[: len(found)]}]
    return fitting[0] if len(fitting) == 1 else {}


def _named(table: Table, columns: Sequence[FileColumn], name: str, option: str) -> FileColumn:
    """The column that an option names."""
    names = [column.name for column in columns]
    if name not in names:
        msg = f"{option} {name}: {table.name} has no such column to choose; {there_are(name, names)}"
        raise DataError(msg)
    return columns[names.index(name)]


def quoted(values: Sequence[str]) -> str:
    """Return `bug, feature and 3 more`, the most frequent first."""
    return named((shortened(value, _CHARACTERS) for value in values), _QUOTED)
