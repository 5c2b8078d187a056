"""The columns of a user's file: which ones the model reads, which one has the right answers, which one names a row.

    id,created,title,body,team
    17,2026-01-03,Charged twice,I was charged twice for the same order.,billing

Here `title` has the name of a text, `body` has long cells that differ, the values of `team` repeat, and those of `id`
do not. If two columns could have the right answers, the user decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_puma.cli.init.column import MAX_LABELS, MIN_LABELS, TEXT_WORDS, Column
from pytest_puma.core import DataError
from pytest_puma.datasets.layout import Layout, cell_text
from pytest_puma.datasets.table import Table
from pytest_puma.errors import did_you_mean
from pytest_puma.task_types import KINDS

Task: TypeAlias = Literal["classification", "regression"]

#: The value of `--id` for rows without a name.
NO_KEY = "-"
_KEYS = ("id", "key", "uuid")
_LABELS = ("label", "labels", "gold", "goldlabel", "target", "class", "category", "answer", "y")
#: Values of a column that a message quotes.
_QUOTED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The options of the user, None for what is to be found. `text`: names with commas between them."""

    text: str | None = None
    label: str | None = None
    key: str | None = None
    task: Task | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a benchmark, and why each was chosen. `key` is None if no column names the rows."""

    task: Task
    text: tuple[Column, ...]
    label: Column
    key: Column | None
    why_text: str
    why_label: str

    @property
    def layout(self) -> Layout:
        """The requirements on the file."""
        return Layout(
            key=None if self.key is None else self.key.name,
            text=tuple(column.name for column in self.text),
            label=self.label.name,
            kind=KINDS[self.task],
            labels=tuple(sorted(self.label.values)),
        )

    def sentences(self) -> list[str]:
        """Return a line for each choice, with its reason."""
        names = ", ".join(column.name for column in self.text)
        key = "none: equal rows get numbers" if self.key is None else f"{self.key.name} (differs in each row)"
        return [
            f"  text:  {names} ({self.why_text})",
            f"  label: {self.label.name} ({self.why_label}): {self.task}, {_quoted(self.label.values)}",
            f"  id:    {key}",
        ]


def find_columns(table: Table, wish: Wish) -> Columns:
    """Return the columns of a table; a `DataError` lists the candidates if the choice is not clear."""
    columns = [
        Column(name=name.strip(), cells=tuple(cell_text(row.cells[at]) for row in table.rows))
        for at, name in enumerate(table.header)
        if name.strip()
    ]
    key = _key(table, columns, wish)
    others = [column for column in columns if column is not key]
    label, why_label = _label(table, others, wish)
    task = wish.task or ("regression" if label.measured else "classification")
    _check_label(table, label, task)
    text, why_text = _text(table, [column for column in others if column is not label], wish)
    return Columns(task=task, text=text, label=label, key=key, why_text=why_text, why_label=why_label)


def _key(table: Table, columns: Sequence[Column], wish: Wish) -> Column | None:
    """The column that names the rows. Its doubles are an error only if it has exactly the name of a key."""
    if wish.key == NO_KEY:
        return None
    if wish.key is not None:
        return _named(table, columns, wish.key, "--id")
    exact = [column for column in columns if column.word in _KEYS]
    similar = [column for column in columns if column.word.endswith(_KEYS) and column.differs]
    key = next((column for column in (*exact, *similar) if column.differs), next(iter(exact), None))
    if key is not None and not key.differs:
        double = next((value for value, times in Counter(key.cells).items() if times > 1 and value), "")
        fault = f"has {double!r} in several rows" if double else "has empty cells"
        msg = (
            f"{table.name}: column {key.name!r} {fault}; expected another value in each row; "
            f"fix it, name another column: --id COLUMN, or do without: --id {NO_KEY}"
        )
        raise DataError(msg)
    return key


def _label(table: Table, columns: Sequence[Column], wish: Wish) -> tuple[Column, str]:
    """The column of the right answers, and why."""
    if wish.label is not None:
        return _named(table, columns, wish.label, "--label"), "--label"
    named = [column for word in _LABELS for column in columns if column.word == word]
    if named:
        return named[0], "the name of a label"
    short = [column for column in columns if column.words < TEXT_WORDS and not column.has_text_name]
    candidates = [column for column in short if (column.repeats and wish.task != "regression") or column.measured]
    if len(candidates) == 1:
        return candidates[0], "the only numbers" if candidates[0].measured else "the only values that repeat"
    if candidates:
        names = ", ".join(map(str, candidates))
        msg = (
            f"{table.name}: several columns could have the right answers: {names}; "
            f"choose one: --label {candidates[0].name}"
        )
        raise DataError(msg)
    there = ", ".join(map(str, columns)) or "none"
    msg = (
        f"{table.name}: no column has the right answers: expected {MIN_LABELS} to {MAX_LABELS} values that repeat, or "
        f"numbers; the columns are: {there}; name one: --label COLUMN"
    )
    raise DataError(msg)


def _check_label(table: Table, label: Column, task: Task) -> None:
    """Refuse right answers that no benchmark can be made of."""
    where, values = f"{table.name}: column {label.name!r}", label.values
    if len(values) < MIN_LABELS:
        msg = f"{where} has {_quoted(values) or 'no value'}; expected at least two different right answers"
        raise DataError(msg)
    if task == "regression":
        return
    if not label.repeats:
        msg = (
            f"{where} has {len(values):,} different values in {len(label.cells):,} rows, such as "
            f"{_quoted(values)}; expected labels that repeat, up to {MAX_LABELS}; for numbers: --task regression; "
            "for free text, see docs/tasks/completion.md"
        )
        raise DataError(msg)
    spelled: dict[str, str] = {}
    for value in values:
        twin = spelled.setdefault(value.casefold(), value)
        if twin != value:
            msg = f"{where} has the labels {twin!r} and {value!r}, which differ in case alone; write them in one way"
            raise DataError(msg)


def _text(table: Table, columns: Sequence[Column], wish: Wish) -> tuple[tuple[Column, ...], str]:
    """The columns that the model reads, and why."""
    if wish.text is not None:
        names = [name.strip() for name in wish.text.split(",") if name.strip()]
        if not names:
            msg = f"--text is {wish.text!r}; expected names of columns: a,b"
            raise DataError(msg)
        return tuple(_named(table, columns, name, "--text") for name in names), "--text"
    texts = [column for column in columns if column.is_text]
    if texts:
        return tuple(texts), f"the name of a text, or {TEXT_WORDS} words and more that differ"
    rest = [column for column in columns if not column.numeric and column.values]
    if len(rest) == 1:
        return (rest[0],), "the only other column"
    there = ", ".join(map(str, columns)) or "none"
    msg = f"{table.name}: no column has texts; the other columns are: {there}; name them: --text COLUMNS"
    raise DataError(msg)


def _named(table: Table, columns: Sequence[Column], name: str, option: str) -> Column:
    """The column that an option names."""
    names = [column.name for column in columns]
    if name not in names:
        hint = did_you_mean(name, names)
        msg = f"{option} {name}: {table.name} has no such column to choose; {hint}there are: {', '.join(names)}"
        raise DataError(msg)
    return columns[names.index(name)]


def _quoted(values: Sequence[str]) -> str:
    """`bug, feature and 3 more values`, the most frequent first."""
    more = len(values) - _QUOTED
    shown = ", ".join(value if len(value) <= 30 else f"{value[:30]}..." for value in values[:_QUOTED])  # noqa: PLR2004
    return f"{shown} and {more:,} more values" if more > 0 else shown
