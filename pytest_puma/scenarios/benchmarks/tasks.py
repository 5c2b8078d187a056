r"""Benchmarks of several tasks, a file each, whose name is a group of the rows: BIG-Bench-Hard and RULER.

snarks.json    {"canary": ..., "examples": [{"input": "...\nOptions:\n(A) ...\n(B) ...", "target": "(A)"}, ...]}
niah_single_1/validation.jsonl    {"index": 0, "input": "...", "outputs": ["4711"], "length": 4085}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from pytest_puma.core import DataError, Metric, Prediction, Sample
from pytest_puma.replies.letters import names_another
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark, nested_records, to_obtain

_OPTION = re.compile(r"\(?([A-Z])\)?(?:[.:)\s].*)?", re.DOTALL)
_ANSWER = re.compile(r".*\banswer(?: is|:)\s*:?\s*(.+)", re.IGNORECASE | re.DOTALL)
_MARKS = " \t\r\n*_`\"'"


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


class BigBenchHard(TaskFiles):
    """BIG-Bench-Hard (Suzgun et al., 2022): 27 tasks on which earlier models were worse than people.

    Short answers are compared exactly: an option as `(A)`, a word, a number or a list. The examples are other questions
    of the task, without the chains of thought that the authors publish beside the data.
    """

    name = "bbh"
    pattern, form, expected = "*.json", "JSON", "one for each task, as snarks.json"
    stop = ("\nQ:",)
    strategies = ("few_shot_3",)
    instruction_pattern = "Q: {input}"
    cue_pattern = "A:"
    truth_column = "target"
    obtain = to_obtain(
        "the folder of 27 JSON files with 6,511 questions, or one of them",
        licence="MIT",
        original="bbh/ of https://github.com/suzgunmirac/BIG-Bench-Hard",
    )

    def post_process(self, text: str, sample: Sample) -> str | None:
        """Return what follows the last `answer is`, else the first line; of options, a single one as `(A)`."""
        stated = _ANSWER.fullmatch(text)
        answer = (stated[1] if stated else text).strip(_MARKS).partition("\n")[0].strip(_MARKS).removesuffix(".")
        option = _OPTION.fullmatch(answer) if "Options:" in sample.fields["input"] else None
        alone = option and not names_another(answer, option.end(1))
        return (f"({option[1]})" if option and alone else answer.strip(_MARKS)) or None

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record."""
        return {name: fields.text(record, name).strip() for name in ("task", "input", "target")}

    def published(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read the examples of each file; its name is the task."""
        if path.is_file() and path.suffix != ".json":
            yield from super().published(path)
            return
        expected = '{"examples": [{"input": ..., "target": ...}]}'
        for file in self.parts(path):
            task = {"task": file.stem.removeprefix("bbh_")}
            records = nested_records(file, _examples, system="BIG-Bench-Hard", expected=expected)
            yield from ((f"{file.name}, example {number}", task | record) for number, record in enumerate(records, 1))


def _examples(content: Any) -> list[dict[str, Any]]:
    return [dict(example) for example in content["examples"]]


def references_found(sample: Sample, prediction: Prediction) -> float:
    """Return the share of the references that the reply contains, in upper or lower case.

    In the tasks of questions and answers (`qa_*`) one reference is enough.
    """
    text = prediction.text.casefold()
    hits = [reference.casefold() in text for reference in sample.references]
    return float(any(hits)) if sample.groups["task"].startswith("qa") else sum(hits) / len(hits)


REFERENCES_FOUND = Metric(name="references_found", score=references_found, kinds=frozenset({"completion"}))


class Ruler(TaskFiles):
    """RULER (Hsieh et al., 2024): generated long contexts, in which something is to be found.

    `references_found` is the metric of the authors. `answer_prefix`, if a row has one, begins the reply. A file of
    needles in a haystack in the same form is read, too.
    """

    name = "ruler"
    pattern, form = "**/*.jsonl", "JSON Lines"
    max_tokens = 128
    strategies = ("zero_shot",)
    scores = (REFERENCES_FOUND, "exact_match.loose")
    instruction_pattern = "{input}"
    truth_column = "outputs"
    obtain = to_obtain(
        "what its scripts generate for your tokenizer and length: the file of a task, or the folder of all tasks",
        licence="Apache-2.0",
        original="scripts/data of https://github.com/NVIDIA/RULER",
    )

    def cue(self, item: dict[str, Any]) -> str:
        """Return the published beginning of the reply."""
        return str(item["answer_prefix"]).strip()

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record; the rest of it remains, as `length`."""
        outputs = fields.texts(record, "outputs", empty=False)
        prefix = fields.string(record, "answer_prefix") if "answer_prefix" in record else ""
        return {**record, "input": fields.text(record, "input"), "outputs": outputs, "answer_prefix": prefix}

    def published(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read each file; the name of its folder is the task, if the file is called as a split."""
        for file in self.parts(path):
            task = file.parent.name if file.stem in {"validation", "test"} else file.stem
            for row, record in super().published(file):
                yield f"{file.name}, {row}", {"task": task, **record}
