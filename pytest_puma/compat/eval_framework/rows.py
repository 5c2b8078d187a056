"""The rows of a task, with their subjects, and those of the samples that its author creates.

A split is one file, as `test.jsonl`, whose column `subject` sorts its rows; or it is a folder with a file for each
subject, as `test/Europe.jsonl`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_puma.compat.eval_framework.author import Author
from pytest_puma.compat.eval_framework.context import arguments
from pytest_puma.compat.eval_framework.metrics import class_name
from pytest_puma.compat.eval_framework.nouns import NO_SUBJECT, Role, Sample
from pytest_puma.core import DataError
from pytest_puma.datasets.frames import to_frame, to_records
from pytest_puma.phrases import named, there_are

if TYPE_CHECKING:
    import pandas as pd

#: The column of the subjects.
SUBJECT = "subject"


class TaskRows(Author):
    """The part of a task that finds its rows."""

    @property
    def _location(self) -> Path | Mapping[str, str]:
        """The file or folder of `DATASET_PATH` beside the module, else the data set of the hub."""
        if self._replacement is not None:
            return Path(self._replacement)
        path = self._declared(self.DATASET_PATH)
        if path.exists():
            return path
        if self.HF_REVISION is not None:
            return Path(f"hf:{self.DATASET_PATH}@{self.HF_REVISION}")
        msg = (
            f"{type(self).__name__}: DATASET_PATH is {self.DATASET_PATH!r}; found no such file or folder beside the "
            f"module, and no HF_REVISION for a data set of the hub; make the folder {path} with "
            f"{self.SAMPLE_SPLIT}.jsonl and {self.FEWSHOT_SPLIT}.jsonl, or set HF_REVISION"
        )
        raise DataError(msg)

    def split_in_folder(self, folder: Path, split: str) -> Path:
        """Return the folder of a split that has a file for each subject, else the file of the split."""
        return folder / split if (folder / split).is_dir() else super().split_in_folder(folder, split)

    def records(self, path: Path) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a split with their subject as text: the name of the file, or its column.

        Raises a `DataError` if a row has none, though the task has several.
        """
        files, names = [("", path)], self._subjects
        if path.is_dir():
            files = sorted((file.name.partition(".")[0], file) for file in path.iterdir() if file.is_file())
        only = names[0] if len(names) == 1 else ""
        for stem, file in files:
            for row in super().records(file):
                subject = stem or row.get(SUBJECT) or only
                if names and not subject:
                    msg = (
                        f"{type(self).__name__}: SUBJECTS are {', '.join(names)}, but a row has no column {SUBJECT!r}; "
                        "add the column, or make a folder for each split with a file for each subject; the row has: "
                        f"{', '.join(row)}"
                    )
                    raise DataError(msg)
                yield {**row, SUBJECT: subject_text(subject)} if names else dict(row)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of the evaluated split, one for each sample that the author creates."""
        frame = super().rows
        if self._subjects:
            available = set(frame[SUBJECT])
            if absent := [subject for subject in self._subjects if subject not in available]:
                subjects = there_are(absent[0], sorted(available))
                msg = f"{type(self).__name__}: no row of the subject {absent[0]!r}; {subjects}"
                raise DataError(msg)
            frame = self._of_subjects(frame)
        if not self._overrides("_create_samples"):
            return frame
        rows = [
            (position, row)
            for index, (position, item) in enumerate(zip(frame.index, to_records(frame), strict=True))
            for row in self._created_rows(item, index)
        ]
        columns = dict.fromkeys(name for _, row in rows for name in row)
        return to_frame([row for _, row in rows], columns=list(columns), rows=[position for position, _ in rows])

    def _created_rows(self, item: Mapping[str, Any], index: int) -> list[dict[str, Any]]:
        """The rows of the samples that the author creates of a row; one row of all in a partial evaluation."""
        samples = self._create_samples(dict(item), index, str(item.get(SUBJECT, "")))
        rows = [_created_row(item, sample) for sample in samples]
        return [_joined(rows)] if self.is_partial else rows

    @property
    def is_partial(self) -> bool:
        """Whether samples differ in a choice within the question, and the text behind it is scored."""
        return "PartialEvalAccuracy" in map(class_name, self.METRICS)

    @property
    def declares_examples(self) -> bool:
        """Whether the few-shot examples are a split of their own, or the author picks them."""
        return self._overrides("_sample_fewshot_examples") or self.examples() is not None

    def examples(self) -> pd.DataFrame | None:
        """The rows of the few-shot split; None if it is the evaluated one, of which some rows are not evaluated."""
        pool = None if self.FEWSHOT_SPLIT == self.SAMPLE_SPLIT else super().examples()
        return None if pool is None else self._of_subjects(pool)

    @property
    def _subjects(self) -> tuple[str, ...]:
        return subject_names(self.SUBJECTS)

    def _of_subjects(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of this task's subjects."""
        return frame[frame[SUBJECT].isin(self._subjects)] if self._subjects else frame

    def _overrides(self, method: str) -> bool:
        """Whether the author has an own method in place of the default."""
        return getattr(type(self), method) is not getattr(Author, method)

    def _dataset(self, item: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
        """The rows of a row's subject, by split."""
        return {
            split: [row for row in rows if all(row[column] == item[column] for column in self.group_columns)]
            for split, rows in self._splits.items()
        }

    @cached_property
    def _splits(self) -> dict[str, list[dict[str, Any]]]:
        pool, rows = self.examples(), to_records(self.rows)
        return {self.FEWSHOT_SPLIT: rows if pool is None else to_records(pool), self.SAMPLE_SPLIT: rows}


def subject_names(subjects: Sequence[Any]) -> tuple[str, ...]:
    """Return the subjects of a task as text; empty for a task without subjects."""
    texts = tuple(map(subject_text, subjects))
    return () if texts == (NO_SUBJECT,) else texts


def subject_text(subject: Any) -> str:
    """Return a subject as text: the value of an enum, the parts of a tuple with commas."""
    value = subject.value if isinstance(subject, Enum) else subject
    return ", ".join(map(subject_text, value)) if isinstance(value, (tuple, list)) else str(value)


def _joined(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One row of the samples of a partial evaluation: their common beginning, the choices behind it, the ending."""
    questions = [row["created_instruction"] for row in rows]
    common = takewhile(lambda words: len(set(words)) == 1, zip(*map(str.split, questions), strict=False))
    beginning = " ".join(words[0] for words in common)
    choices = [" ".join(question.split()).removeprefix(beginning).strip() for question in questions]
    right = [choice for choice, row in zip(choices, rows, strict=True) if row["created_truth"] == "True"]
    endings = {tuple(row["created_completions"] or ()) for row in rows}
    ending = endings.pop() if len(endings) == 1 else ()
    if len(ending) != 1 or len(right) != 1:
        made = f"{len(rows)} samples with {len(right)} 'True' ground truths"
        msg = f"PartialEvalAccuracy: _create_samples made {made}; expected one of several, with the same completion"
        raise DataError(msg)
    created = {"created_instruction": beginning, "created_completions": choices, "created_truth": right[0]}
    return {**rows[0], **created, "created_ending": ending[0].strip()}


def _created_row(item: Mapping[str, Any], sample: Sample) -> dict[str, Any]:
    """The row of a created sample. A `DataError` refuses a chat with more than one message of the user."""
    roles = [message.role for message in sample.messages]
    core = [role for role in roles if role is not Role.SYSTEM]
    if core not in ([Role.USER], [Role.USER, Role.ASSISTANT]):
        made = f"_create_samples made a sample with messages of {named(role.value for role in roles)}"
        msg = f"{made}; expected one user, perhaps with others around"
        raise DataError(msg)
    texts = {message.role: message.content for message in sample.messages}
    return {
        **item,
        "created_instruction": texts[Role.USER],
        "created_system": texts.get(Role.SYSTEM, ""),
        "created_cue": texts.get(Role.ASSISTANT, ""),
        "created_truth": sample.ground_truth,
        "created_completions": sample.possible_completions,
        "created_context": arguments(sample.context),
    }
