"""A scenario whose prompts are composed from its methods, so that it needs no template.

A template `prompts/<scenario>/<strategy>.jinja` of the project still takes precedence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from pytest_puma.core import DataError, DataSource, Sample, Scenario
from pytest_puma.datasets.frames import Frame, check_required, declared_columns, to_frame
from pytest_puma.datasets.hub import HUB, dataset_file
from pytest_puma.datasets.table import read_records
from pytest_puma.phrases import named
from pytest_puma.scenarios.file import FileScenario, content_of, shown_path

#: Maximum number of names in a message.
_SHOWN = 10
#: Formats of a split in a folder.
_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".jsonl.gz")


class ComposedScenario(FileScenario):
    """The base of `CompletionScenario` and `ChoiceScenario`: rows with any values, and prompts from methods.

    `data` is one file, or a file for each split, or `hf:owner/set@revision`. `item` is always a row as a dictionary.
    """

    composes = True
    #: The split to evaluate. The examples are of `fewshot_split`; of a single file, rows that are not evaluated.
    split: ClassVar[str] = "test"
    #: Columns that every row needs, with their types: `{"choices": list}`.
    required: ClassVar[Mapping[str, type | tuple[type, ...]]] = {}
    text_fields: ClassVar[tuple[str, ...]] = ()

    # -- the rows --------------------------------------------------------------------------------

    def records(self, path: Path) -> Iterable[Mapping[str, Any]]:
        """The rows of a file or folder; an override reads another format."""
        return [record for _, record in read_records(content_of(path), name=shown_path(path))]

    @property
    def obtain(self) -> str:
        """How to get the data, for a scenario without any."""
        return ""

    def valid_labels(self) -> list[str]:
        """No labels: each row has its own answers."""
        return []

    def parse_response(self, response: str) -> str | None:
        """Return the text without surrounding space, None for an empty one."""
        return response.strip() or None

    def read_conclusion(self, reply: str, sample: Sample, order: Sequence[int] = ()) -> str | None:
        """Return the answer of a reply without an `Answer:` line, which is read as every other one."""
        return self.read(reply, sample, order)

    def gold_label(self, instance: dict[str, Any]) -> str:
        """Return the first ground truth, empty if there is none."""
        return next(iter(self.references(instance)), "")

    def hidden_fields(self) -> tuple[str, ...]:
        """None, beside those that equal the ground truth: the methods choose what to show."""
        return ()

    @property
    def path(self) -> Path:
        """The file of the evaluated split."""
        return self.split_path(self.split)

    @cached_property
    def _pool(self) -> Frame | None:
        """The rows of the few-shot split; None if there is a single file."""
        return self._read(self.split_path(self.fewshot_split)) if self._has_splits else None

    @property
    def declares_examples(self) -> bool:
        """Whether the few-shot examples are a split of their own, or the scenario picks them."""
        return type(self).pick_examples is not Scenario.pick_examples or self._has_splits

    @cached_property
    def _has_splits(self) -> bool:
        data = self._location
        return not isinstance(data, Path) or data.is_dir() or str(data).startswith(HUB)

    @property
    def _location(self) -> Path | Mapping[str, str]:
        """The place of the data: a file, a folder or a data set of the hub, or a file for each split."""
        if self._replacement is not None:
            return Path(self._replacement)
        declared = getattr(self, "data", None)
        if declared is None:
            how = f"{self.obtain}; then " if self.obtain else ""
            msg = f"scenario {self.name!r} has no data of its own: {how}run with --puma-data {self.name}=PATH"
            raise DataError(msg)
        if isinstance(declared, Mapping):
            return declared
        return Path(declared) if declared.startswith(HUB) else self._declared(declared)

    def split_path(self, split: str) -> Path:
        """Return the file of a split; a `DataError` lists the splits there are."""
        data = self._location
        if isinstance(data, Mapping):
            if split not in data:
                msg = f"scenario {self.name!r}: no split {split!r} in data; there are: {named(data)}"
                raise DataError(msg)
            return self._declared(data[split])
        if str(data).startswith(HUB):
            return dataset_file(str(data), split)
        return self.split_in_folder(data, split) if data.is_dir() else data

    def split_names(self, split: str) -> tuple[str, ...]:  # noqa: ARG002 - for overrides
        """Return patterns of further names of a split in a folder."""
        return ()

    def split_in_folder(self, folder: Path, split: str) -> Path:
        """Return the file or folder of a split in a folder of the user: `test.jsonl`, or another name of the split."""
        patterns = self.split_names(split)
        for pattern in (*patterns, *(f"{split}{suffix}" for suffix in _SUFFIXES)):
            paths = sorted(folder.glob(pattern))
            if len(paths) == 1:
                return paths[0]
            if paths:
                names = named((path.relative_to(folder).as_posix() for path in paths), _SHOWN)
                msg = f"scenario {self.name!r}: {len(paths)} files of the split {split!r} in {folder}: {names}; "
                raise DataError(msg + "expected one: give a folder with one of them, or the file")
        found = named(sorted(path.name for path in folder.iterdir()), _SHOWN)
        msg = f"scenario {self.name!r}: no file of the split {split!r} in {folder}; expected {split}.jsonl, .csv, "
        published = f"; published names are understood, too: {', '.join(patterns)}" if patterns else ""
        raise DataError(msg + f".json or .parquet; there is: {found}{published}")

    def parts(self, path: Path) -> Sequence[Path]:
        """Return all files that the rows of a path come from."""
        return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]

    def _source_of(self, path: Path) -> DataSource:
        """The path of the evaluated split, with one digest of all its files."""
        digests = [sha256(content_of(file)).digest() for file in self.parts(path)]
        digest = digests[0].hex() if len(digests) == 1 else sha256(b"".join(digests)).hexdigest()
        return DataSource(name=shown_path(path), digest=digest)

    def _read(self, path: Path) -> Frame:
        rows = [dict(record) for record in self.records(path)]
        if not rows:
            msg = f"{shown_path(path)}: the file has no rows; expected one row for each question"
            raise DataError(msg)
        declared = (*declared_columns(self), *self.text_fields)
        required = dict(self.required) | {name: object for name in declared if name not in self.required}
        for number, row in enumerate(rows, start=1):
            if fault := check_required(row, required):
                msg = f"{shown_path(path)}: row {number}, {fault}"
                raise DataError(msg)
        columns = dict.fromkeys(name for row in rows for name in row)
        return to_frame(rows, columns=list(columns), rows=list(range(1, len(rows) + 1)))
