"""A public benchmark: the published files of a data set -> rows under our names. The files come by `--puma-data`.

    --puma-data arc_challenge=ARC-Challenge-Test.jsonl       a file as published
    --puma-data mmlu=data                                    a folder as published, or of test.jsonl, train.parquet ...
    --puma-data hellaswag=hf:Rowan/hellaswag@6002345         a data set of the hub at a revision

A benchmark specifies in `files` the names of its splits in a folder, and in `row` the meaning of a published record.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar

from pytest_puma.core import DataError, Sample
from pytest_puma.datasets.frames import Frame, to_records
from pytest_puma.datasets.table import read_records
from pytest_puma.phrases import named
from pytest_puma.platform.json_text import parse_foreign_json
from pytest_puma.scenarios.choice import ListedChoiceScenario
from pytest_puma.scenarios.completion import WordedScenario
from pytest_puma.scenarios.composed import ComposedScenario
from pytest_puma.scenarios.file import content_of, shown_path, text_of

#: Names of a split's file in a folder of the hub.
_OF_THE_HUB = ("{split}-*.parquet", "*/{split}-*.parquet")
#: The column with the texts of equal choices.
_EQUAL = "equal_choices"
#: Maximum number of questions in a sentence.
_QUESTIONS = 3


class Benchmark(ComposedScenario):
    """The base of all loaders of public formats."""

    #: Published names of the evaluated file or folder in a folder of the user, as patterns.
    files: ClassVar[tuple[str, ...]] = ()
    #: The same of the few-shot examples.
    fewshot_files: ClassVar[tuple[str, ...]] = ()
    #: The data set: what it holds, and its licence.
    contents: ClassVar[str]
    licence: ClassVar[str]
    #: Its name on the hub, with a pattern if a split has several files; and its first publication.
    hub: ClassVar[str] = ""
    original: ClassVar[str]
    #: The SHA-256 of the original file.
    checksum: ClassVar[str] = ""

    @property
    def obtain(self) -> str:
        """How to get the data: what they hold, their licence, and where they lie."""
        name, _, pattern = self.hub.partition(":")
        on_hub = f"hf:{name}@REVISION{pattern and f':{pattern}'} (REVISION: a commit of the hub) or " if name else ""
        digest = f"SHA-256 {self.checksum}" if self.checksum else "each run records the SHA-256 of the file"
        return f"get {self.contents} (licence: {self.licence}; {digest}) from {on_hub}{self.original}"

    @abstractmethod
    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a published record as a row; a `DataError` names the fault."""

    def published(self, path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
        """Yield the place and the record of each row; an override reads another format."""
        for number, record in read_records(content_of(path), name=shown_path(path)):
            yield f"row {number}", record

    def records(self, path: Path) -> Iterator[dict[str, Any]]:
        """The rows; a `DataError` names the file and the row of a faulty record."""
        for position, record in self.published(path):
            try:
                row = self.row(record)
            except DataError as error:
                msg = f"{shown_path(path)}: {position}, {error}"
                raise DataError(msg) from error
            yield row

    def examples(self) -> Frame | None:
        """The rows of the few-shot split, without questions that are evaluated: published splits overlap."""
        pool = super().examples()
        if pool is None:
            return None
        evaluated = set(map(self._question, to_records(self.rows)))
        return pool[[self._question(row) not in evaluated for row in to_records(pool)]]

    def _question(self, row: dict[str, Any]) -> str:
        return self.question_text(row, self.options(row))

    def split_names(self, split: str) -> tuple[str, ...]:
        """Return the published names of a split, and those of the hub."""
        published = self.files if split == self.split else self.fewshot_files
        return (*published, *(name.format(split=split) for name in _OF_THE_HUB))


class CompletionBenchmark(Benchmark, WordedScenario):
    """The base of loaders with free text as answers."""

    strategies: ClassVar[tuple[str, ...]] = ("zero_shot",)


class PartedFiles(Benchmark):
    """The base of loaders with a file for each part, as languages or subjects: `de/test.jsonl`, `fr/test.jsonl`.

    A folder gives the rows of all parts. The part of a file is its name, or that of its folder if the file is called
    as a split; `part_column` takes it, unless a record has this column.
    """

    #: The files of a split in a folder, as patterns; the first one that fits any file.
    part_files: ClassVar[tuple[str, ...]] = ("*/{split}.*", "*/{split}-*.parquet")
    part_column: ClassVar[str] = "part"

    def split_in_folder(self, folder: Path, split: str) -> Path:
        """Return the folder with the pattern of the files of a split."""
        patterns = (pattern.format(split=split) for pattern in self.part_files)
        found = next((pattern for pattern in patterns if any(folder.glob(pattern))), None)
        return super().split_in_folder(folder, split) if found is None else folder / found

    def parts(self, path: Path) -> Sequence[Path]:
        """Return the files of a pattern."""
        folder = Path(*takewhile(lambda part: "*" not in part, path.parts))
        return super().parts(path) if folder == path else sorted(folder.glob(path.relative_to(folder).as_posix()))

    def published(self, path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
        """Read all files, and add the part to each record."""
        for file in self.parts(path):
            called = re.split(r"[-.]", file.name)[0] in {self.split, self.fewshot_split}
            part = {self.part_column: file.parent.name if called else file.stem}
            for position, record in self.published_in(file):
                place = ", ".join(filter(None, (f"{file.parent.name}/{file.name}", position)))
                yield place, part | {name: value for name, value in record.items() if value is not None}

    def published_in(self, file: Path) -> Iterable[tuple[str, dict[str, Any]]]:
        """Yield the place and the record of each row of a file."""
        return super().published(file)


class TaskFiles(CompletionBenchmark):
    """The base of both. A folder has the files of all tasks; the samples that are not evaluated are the examples."""

    text_fields = ("input",)
    group_columns = ("task",)
    #: The pattern of the files in a folder, and their format for an error message.
    pattern: ClassVar[str]
    form: ClassVar[str]
    expected: ClassVar[str] = "one for each task"

    def split_in_folder(self, folder: Path, split: str) -> Path:  # noqa: ARG002 - there is one split
        """Return the folder of all tasks."""
        return folder

    def examples(self) -> None:
        """None: questions of each task that are not evaluated are the examples."""

    def parts(self, path: Path) -> list[Path]:
        """Return the files of the tasks."""
        files = sorted(path.glob(self.pattern)) if path.is_dir() else [path]
        if not files:
            msg = f"scenario {self.name!r}: no {self.form} file in {path}; expected {self.expected}"
            raise DataError(msg)
        return files


class ChoiceBenchmark(Benchmark, ListedChoiceScenario):
    """The base of loaders with choices. `row` returns `question`, `choices` and the places of the right ones.

        {"question": "Where do fish live?", "choices": ["in water", "on trees"], "answer": [0]}

    Published data have a few questions with two equal choices, which neither a text nor a probability can distinguish.
    Such choices are one; it is right if one of them is. The reports of a run give the number of such questions.
    """

    strategies: ClassVar[tuple[str, ...]] = ("cloze_scoring",)

    def records(self, path: Path) -> Iterator[dict[str, Any]]:
        """The rows, in which equal choices are one."""
        return map(_distinct, super().records(path))

    def remarks(self, samples: Sequence[Sample]) -> Sequence[str]:
        """Return a sentence on questions with equal choices."""
        equal = [sample for sample in samples if sample.fields[_EQUAL]]
        if not equal:
            return ()
        rows = named((f"{sample.row} ({named(map(repr, sample.fields[_EQUAL]))})" for sample in equal), _QUESTIONS)
        counts = f"{len(equal)} of {len(samples)} questions have equal choices"
        return (f"{counts}, which count as one, right if one of them is: {rows}",)


def _distinct(row: dict[str, Any]) -> dict[str, Any]:
    texts, right = list(row["choices"]), {row["choices"][position] for position in row["answer"]}
    distinct = list(dict.fromkeys(texts))
    answer = [position for position, text in enumerate(distinct) if text in right]
    equal = [text for text in distinct if texts.count(text) > 1]
    return row | {"choices": distinct, "answer": answer, _EQUAL: equal}


def nested_records(
    file: Path, read: Callable[[Any], Iterable[dict[str, Any]]], *, row: str, system: str, expected: str
) -> list[tuple[str, dict[str, Any]]]:
    """Return the records that `read` finds in the JSON of a file, and the place of each; `row` is a record's name.

    A `DataError` gives the expected form.
    """
    try:
        records = list(read(parse_foreign_json(text_of(file))))
    except (ValueError, KeyError, TypeError) as error:
        msg = f"{shown_path(file)}: not in the format of {system} ({error!r}); expected {expected}"
        raise DataError(msg) from error
    return [(f"{row} {number}", record) for number, record in enumerate(records, start=1)]
