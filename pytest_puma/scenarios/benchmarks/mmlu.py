"""MMLU (Hendrycks et al., 2021): four choices in each of 57 subjects; examples come from the same subject.

test/anatomy_test.csv, dev/anatomy_dev.csv      no header: question, four choices, the letter of the right one
{"question": ..., "subject": "anatomy", "choices": [...], "answer": 2}       the hub; the first choice is 0
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.datasets.table import csv_cells
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import ChoiceBenchmark, to_obtain
from pytest_puma.scenarios.file import text_of

_CELLS = 6


class Mmlu(ChoiceBenchmark):
    """Questions as in the paper; letters are scored after five examples of the subject."""

    name = "mmlu"
    fewshot_split = "dev"
    files = ("test", "all/test-*.parquet")
    fewshot_files = ("dev", "all/dev-*.parquet")
    group_columns = ("subject",)
    question_first = ""
    strategies = ("option_scoring_5",)
    obtain = to_obtain(
        "14,042 questions in 57 subjects, and 285 examples",
        licence="MIT",
        hub="cais/mmlu:all/*",
        original="the folder in https://people.eecs.berkeley.edu/~hendrycks/data.tar",
    )

    def preamble(self, item: dict[str, Any]) -> str:
        """Return the subject."""
        return f"Questions about {item['subject'].replace('_', ' ')}. One of the four choices is right."

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record of either format."""
        choices = fields.texts(record, "choices")
        return {
            "subject": fields.text(record, "subject"),
            "question": fields.text(record, "question").strip(),
            "choices": choices,
            "answer": [fields.place(record, "answer", ("A", "B", "C", "D")[: len(choices)])],
        }

    def published(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read a folder of CSV files, one of them, or a file of the hub."""
        if path.suffix == ".csv":
            yield from _csv_records(path)
        elif path.is_dir():
            for file in self.parts(path):
                yield from ((f"{file.name}, {row}", record) for row, record in _csv_records(file))
        else:
            yield from super().published(path)


def _csv_records(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    subject = re.sub(r"_(test|dev|val)$", "", file.stem)
    for number, cells in csv_cells(text_of(file), file.name):
        if len(cells) != _CELLS:
            msg = f"{file}: row {number} has {len(cells)} cells; expected 6: the question, four choices and the answer"
            raise DataError(msg)
        question, *choices, answer = cells
        # Some copies have a header.
        if number > 1 or answer.strip().casefold() not in {"answer", "target"}:
            yield f"row {number}", {"question": question, "subject": subject, "choices": choices, "answer": answer}
