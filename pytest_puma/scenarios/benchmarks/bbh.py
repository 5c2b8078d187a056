r"""BIG-Bench-Hard (Suzgun et al., 2022): 27 tasks, a file each, on which earlier models were worse than people.

snarks.json    {"canary": ..., "examples": [{"input": "...\nOptions:\n(A) ...\n(B) ...", "target": "(A)"}, ...]}

The examples are other questions of the task, without the chains of thought that the authors publish beside the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError, Sample
from pytest_puma.datasets.table import decoded
from pytest_puma.platform.json_text import parse_foreign_json
from pytest_puma.replies.letters import names_another
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.completions import CompletionBenchmark
from pytest_puma.scenarios.file import content_of, shown_path

_OPTION = re.compile(r"\(?([A-Z])\)?(?:[.:)\s].*)?", re.DOTALL)
_ANSWER = re.compile(r".*\banswer(?: is|:)\s*:?\s*(.+)", re.IGNORECASE | re.DOTALL)
_MARKS = " \t\r\n*_`\"'"


class BigBenchHard(CompletionBenchmark):
    """Short answers, compared exactly: an option as `(A)`, a word, a number or a list."""

    name = "bbh"
    text_fields = ("input",)
    group_columns = ("task",)
    stop = ("\nQ:",)
    strategies = ("few_shot_3",)
    obtain = to_obtain(
        "the folder of 27 JSON files with 6,511 questions, or one of them",
        licence="MIT",
        original="bbh/ of https://github.com/suzgunmirac/BIG-Bench-Hard",
    )

    def split_in_folder(self, folder: Path, split: str) -> Path:  # noqa: ARG002 - there is one split
        """Return the folder of all tasks."""
        return folder

    def examples(self) -> None:
        """None: each task lends questions that are not evaluated."""

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the question."""
        return f"Q: {item['input']}"

    def cue(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - the same for each row
        """Return the beginning of an answer."""
        return "A:"

    def truth(self, item: dict[str, Any]) -> str:
        """Return the target."""
        return str(item["target"])

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
        for file in self.parts(path):
            for number, record in enumerate(_examples(file), start=1):
                yield f"{file.name}, example {number}", {"task": file.stem.removeprefix("bbh_"), **record}

    def parts(self, path: Path) -> list[Path]:
        """Return the JSON files."""
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            msg = f"scenario {self.name!r}: no JSON file in {path}; expected one for each task, as snarks.json"
            raise DataError(msg)
        return files


def _examples(file: Path) -> list[dict[str, Any]]:
    name = shown_path(file)
    try:
        content = parse_foreign_json(decoded(content_of(file), name))
        examples = content["examples"]
        if all(isinstance(each, dict) for each in examples):
            return list(examples)
    except (ValueError, KeyError, TypeError):
        pass
    msg = f'{name}: not in the format of BIG-Bench-Hard; expected {{"examples": [{{"input": ..., "target": ...}}]}}'
    raise DataError(msg)
