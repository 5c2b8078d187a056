"""A scenario whose rows lie in a file.

class Requirements(FileScenario):
    name = "requirements"
    task_type = "classification"
    data = "requirements.csv"            # beside the module of the class
    key = "id"
    text_fields = ("text",)
    label_column = "kind"
    columns = {"text": ("requirement", "sentence")}   # other names the file may use

    def valid_labels(self) -> list[str]:
        return ["functional", "quality"]

    def parse_response(self, response: str) -> str | None: ...
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from pytest_puma.core import DataError, DataSource, Scenario, SettingsError
from pytest_puma.datasets.frames import FileLayout, Frame, arrange, to_records
from pytest_puma.datasets.order import content_id, grouped, rank, rounds
from pytest_puma.datasets.table import MAX_DATA, decoded, read_table
from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.platform.files import regular


class FileScenario(Scenario):
    """A scenario that declares its file, and inherits `sample`, `gold_label`, `examples` and `source`.

    `data`, given to the constructor, is the user's own file in place of the declared one. The
    declared examples then belong to other data, so rows of the file that are not evaluated take their place.
    """

    #: The file: a path relative to the module of the class, or the name of a bundled file. A `ComposedScenario` can
    #: declare a file for each split.
    data: ClassVar[str | Mapping[str, str]]
    #: The column of the gold answer.
    label_column: ClassVar[str]
    #: For each column, other names it is understood by; case, blanks, underscores and hyphens do not matter.
    columns: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    #: The file of few-shot examples, found like `data`.
    pool: ClassVar[str | None] = None
    #: Whether a sample holds as many rows of each label as there are, whatever their share of the file; with group
    #: columns, as many of each label in each group.
    balanced: ClassVar[bool] = False

    #: The file as it was when the rows were read.
    _source: DataSource | None = None

    def __init__(self, data: Path | None = None) -> None:
        if callable(data):
            # With a class as its only argument a mark decorates the class, and the test would be gone without a word.
            name = type(self).__name__
            msg = (
                f"{name}: pytest takes a class alone for what is to be marked; "
                f"expected an instance: @pytest.mark.puma({name}())"
            )
            raise SettingsError(msg)
        self._replacement = data

    def on_file(self, path: Path) -> FileScenario:
        """Return the scenario on the user's own data."""
        return type(self)(data=path)

    def layout(self) -> FileLayout:
        """Return the requirements on the columns of the file."""
        return FileLayout(
            key=self.key,
            text=self.text_fields,
            label=self.label_column,
            kind=self.kind,
            # Numbers to choose from may be those of the rows.
            labels=() if self.kind.form == "numbers" else tuple(self.valid_labels()),
            names=self.columns,
            drop=self.duplicates == "drop",
            groups=self.group_columns,
        )

    @property
    def path(self) -> Path:
        """The file that is read: the user's, else the declared one."""
        if self._replacement is not None:
            return Path(self._replacement)
        declared = getattr(self, "data", None)
        if not isinstance(declared, str):
            msg = f"scenario {self.name!r}: data is {declared!r}; expected one file, as it has no splits"
            raise SettingsError(msg)
        return self._declared(declared)

    @cached_property
    def rows(self) -> Frame:
        """All rows of the file, in its order, under the scenario's column names; read once."""
        return self._whole_file

    @cached_property
    def _whole_file(self) -> Frame:
        """The rows, and in `_source` the file from which they were read."""
        path = self.path
        source = self._source_of(path)
        rows = self._read(path)
        if self._source_of(path) != source:
            msg = f"{source.name}: changed while it was read; leave it alone while a run begins, and run again"
            raise DataError(msg)
        self._source = source
        return rows

    def sample(self, n: int, seed: int = 42) -> Frame:
        """The first `n` rows of the file in the order of the seed, or all; the index has their numbers in the file."""
        return self.rows.iloc[self._order(seed)[: max(n, 0)]]

    def gold_label(self, instance: dict[str, Any]) -> str:
        """Return the value of the label column."""
        return str(instance[self.label_column])

    def hidden_fields(self) -> tuple[str, ...]:
        """The label column."""
        column = getattr(self, "label_column", None)
        return () if column is None else (column,)

    def examples(self) -> Frame | None:
        """The declared pool; `None` where there is none or the user brought other data."""
        return self._pool

    @cached_property
    def _pool(self) -> Frame | None:
        """The rows of the pool, read once: those that were checked are those of the prompts."""
        return None if self.pool is None or self._replacement is not None else self._read(self._declared(self.pool))

    def source(self) -> DataSource:
        """The file that was read, under the name its user knows it by: it may have changed since."""
        return self._source or self._source_of(self.path)

    def _source_of(self, path: Path) -> DataSource:
        """The file as it is now."""
        return DataSource(name=shown_path(path), digest=sha256(content_of(path)).hexdigest())

    def _order(self, seed: int) -> list[int]:
        """All rows in the order of a seed, computed once for all cells."""
        if seed not in self._orders:
            names = [content_id(row) if self.key is None else row[self.key] for row in to_records(self.rows)]
            order = sorted(range(len(names)), key=lambda row: rank(seed, names[row]))
            if self.group_columns:
                order = self._groups_alternate(order, seed)
            elif self.balanced:
                order = self._labels_alternate(order, seed)
            self._orders[seed] = order
        return self._orders[seed]

    @cached_property
    def _orders(self) -> dict[int, list[int]]:
        return {}

    def _groups_alternate(self, order: list[int], seed: int) -> list[int]:
        """One row of each group per round; if the scenario is `balanced`, the labels of each group alternate, too."""
        values = list(self.rows[list(self.group_columns)].itertuples(index=False, name=None))
        groups = grouped(order, values.__getitem__)
        if self.balanced:
            groups = {group: self._labels_alternate(rows, seed, *group) for group, rows in groups.items()}
        return list(rounds(groups, lambda turn: sorted(groups, key=lambda group: rank(seed, "group", turn, *group))))

    def _labels_alternate(self, order: list[int], seed: int, *group: str) -> list[int]:
        """One row of each label per round; the order within a round depends on the seed and the group."""
        labels = grouped(order, list(self.rows[self.label_column]).__getitem__)
        return list(
            rounds(labels, lambda turn: sorted(labels, key=lambda label: rank(seed, "turn", turn, label, *group)))
        )

    def _read(self, path: Path) -> Frame:
        return arrange(read_table(content_of(path), name=shown_path(path)), self.layout())

    @classmethod
    def _declared(cls, file: str) -> Path:
        """Beside the module of the class, or of the class it inherits from; else bundled."""
        modules = (sys.modules.get(base.__module__) for base in cls.__mro__ if issubclass(base, FileScenario))
        folders = [Path(path).parent for module in modules if (path := getattr(module, "__file__", None))]
        paths = [folder / file for folder in (*folders, bundled_folder("data"))]
        return next((path for path in paths if path.is_file()), paths[0])


def content_of(path: Path) -> bytes:
    """Return the bytes of a data file; a `DataError` gives the reason if it cannot be read or is too large."""
    try:
        if (size := regular(path).stat().st_size) > MAX_DATA:
            msg = (
                f"{shown_path(path)}: has {size >> 20:,} MB, and a file is read as a whole; expected at most "
                f"{MAX_DATA >> 20:,} MB: make a smaller file of the rows that you evaluate"
            )
            raise DataError(msg)
        return path.read_bytes()
    except (OSError, ValueError) as error:  # the latter for a path with the character NUL
        reason = error.strerror if isinstance(error, OSError) else error
        msg = f"{shown_path(path)}: cannot be read ({reason}); expected a CSV, JSON Lines or Parquet file"
        raise DataError(msg) from error


def text_of(path: Path) -> str:
    """Return the text of a data file; errors as of `content_of`, and for one that is not UTF-8."""
    return decoded(content_of(path), shown_path(path))


def shown_path(path: Path) -> str:
    """The name as the user would write it: bundled files are `data/...`, others relative to the current folder."""
    path = Path(os.path.normpath(path))
    for folder, shown in ((bundled_folder("data"), Path("data")), (Path.cwd(), Path())):
        if path.is_relative_to(folder):
            return (shown / path.relative_to(folder)).as_posix()
    return path.as_posix()
