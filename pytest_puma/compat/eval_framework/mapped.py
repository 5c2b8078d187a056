"""The methods of a scenario, by those of a task's author.

Texts are compared without surrounding space: the space between cue and answer belongs to neither.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from pytest_puma.compat.eval_framework import subjects
from pytest_puma.compat.eval_framework.author import Author
from pytest_puma.compat.eval_framework.metrics import Row, arguments, class_name, translated
from pytest_puma.compat.eval_framework.nouns import Role, Sample
from pytest_puma.core import DataError
from pytest_puma.datasets.frames import to_frame, to_records
from pytest_puma.phrases import named
from pytest_puma.replies.answers import after_cue, begins_with

if TYPE_CHECKING:
    import pandas as pd


#: The columns of the samples that `_create_samples` makes of a row, and the author's method for every other row.
_METHODS = {
    "created_instruction": "_get_instruction_text",
    "created_system": "_get_system_prompt_text",
    "created_cue": "_get_cue_text",
    "created_truth": "_get_ground_truth",
    "created_completions": "_get_possible_completions",
    "created_context": "_get_context",
}


class Mapped(Author):
    """The part that completions and choices have in common."""

    #: A ground truth with the cue was reported.
    _warned: bool = False

    # -- the prompt ------------------------------------------------------------------------------

    def system(self, item: dict[str, Any]) -> str:
        """Return the system message."""
        return self._value(item, "created_system") or ""

    def preamble(self, item: dict[str, Any]) -> str:
        """Return the text before the first message; that of a created sample has it."""
        return "" if "created_instruction" in item else self._get_initial_prompt_text(item)

    def cue(self, item: dict[str, Any]) -> str:
        """Return the beginning of the reply."""
        return self._value(item, "created_cue") or ""

    def user_message(self, item: dict[str, Any]) -> str:
        """Return the message of the user."""
        return str(self._value(item, "created_instruction"))

    def _value(self, item: dict[str, Any], column: str) -> Any:
        """The value of a created sample, else that of the author's method for the row."""
        return item[column] if column in item else getattr(self, _METHODS[column])(item)

    def _get_fewshot_target_text(self, item: dict[str, Any]) -> str:
        """The answer of an example: by default the cue and the first ground truth, whether that has the cue or not."""
        truths = self.truths(item)
        if not truths:
            msg = f"{type(self).__name__}: an example has no ground truth; override _get_fewshot_target_text"
            raise DataError(msg)
        return " ".join(filter(None, (self.cue(item).rstrip(), truths[0])))

    def pick_examples(self, item: dict[str, Any], k: int, random: Random) -> Sequence[dict[str, Any]] | None:
        """Return the examples that the author draws; None if the author has no own method."""
        if not self._overrides("_sample_fewshot_examples"):
            return None
        self.num_fewshot, self.rnd, self.dataset = k, random, self._dataset(item)
        picked = [dict(example) for example in self._sample_fewshot_examples(dict(item))]
        fault = f"{len(picked)} rows; expected {k}, as num_fewshot" if len(picked) != k else ""
        if item in picked:
            fault = "the row that is evaluated; leave it out"
        if fault:
            msg = f"{type(self).__name__}: _sample_fewshot_examples returned {fault}"
            raise DataError(msg)
        group = {subjects.COLUMN: item[subjects.COLUMN]} if self.group_columns else {}
        return [example | group for example in picked]

    # -- the answers -----------------------------------------------------------------------------

    def truths(self, item: dict[str, Any]) -> Sequence[str]:
        """Return the ground truths without the cue: the right texts, or those of the right choices."""
        return self._answers(item)[0]

    def context(self, instance: dict[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of metrics, and the question as `original`."""
        return {"original": self.user_message(instance), **self._answers(instance)[1]}

    def without_cue(self, text: str, cue: str) -> str:
        """Return a ground truth without the cue at its beginning; the first one is reported."""
        if not begins_with(text, cue):
            return text.strip()
        rest = after_cue(text, cue)
        if not self._warned:
            self._warned = True
            msg = (
                f"puma: {type(self).__name__}: the ground truth {text!r} begins with the cue {cue!r}, after which a "
                f"reply continues. No reply would equal it: the cue is cut off, and {rest!r} is expected; return the "
                "truth without the cue from _get_ground_truth"
            )
            warnings.warn(msg, UserWarning, stacklevel=2)
        return rest

    def _answers(self, item: dict[str, Any]) -> Row:
        """The ground truths that metrics compare with, and the arguments of metrics."""
        truth = self._value(item, "created_truth")
        texts = () if truth is None else (truth,) if isinstance(truth, str) else tuple(truth)
        truths = tuple(self.without_cue(text, self.cue(item)) for text in texts)
        given = arguments(self._value(item, "created_context"))
        return translated([class_name(metric) for metric in self.METRICS], truths, given)

    # -- the rows --------------------------------------------------------------------------------

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

    def records(self, path: Path) -> Iterable[Mapping[str, Any]]:
        """Return the rows of a split, with their subjects."""
        rows = ((subject, row) for subject, file in subjects.files(path) for row in super(Mapped, self).records(file))
        return subjects.with_subject(rows, self._subjects, owner=type(self).__name__)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of the evaluated split, one for each sample that the author creates."""
        frame = super().rows
        if self._subjects:
            subjects.check_all_there(self._subjects, set(frame[subjects.COLUMN]), owner=type(self).__name__)
            frame = self._of_subjects(frame)
        if not self._overrides("_create_samples"):
            return frame
        rows = [
            (position, _created_row(item, sample))
            for index, (position, item) in enumerate(zip(frame.index, to_records(frame), strict=True))
            for sample in self._create_samples(dict(item), index, str(item.get(subjects.COLUMN, "")))
        ]
        columns = dict.fromkeys(name for _, row in rows for name in row)
        return to_frame([row for _, row in rows], columns=list(columns), rows=[position for position, _ in rows])

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
        return subjects.names(self.SUBJECTS)

    def _of_subjects(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of this task's subjects."""
        return frame[frame[subjects.COLUMN].isin(self._subjects)] if self._subjects else frame

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
