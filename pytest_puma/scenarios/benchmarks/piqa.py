"""PIQA (Bisk et al., 2020): two ways to reach a goal with things of the household.

valid.jsonl    {"goal": ..., "sol1": ..., "sol2": ...}      beside it valid-labels.lst: a 0 or 1 for each line
the hub        {"goal": ..., "sol1": ..., "sol2": ..., "label": 0}

The answers of the test split are not public, so the validation split is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.datasets.table import decoded
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.choices import ChoiceBenchmark
from pytest_puma.scenarios.file import content_of, shown_path


class Piqa(ChoiceBenchmark):
    """The solutions are scored as answers to the goal."""

    name = "piqa"
    split = "validation"
    files = ("valid.jsonl", "dev.jsonl")
    strategies = ("cloze_scoring",)
    scores = ("accuracy_chars",)
    obtain = to_obtain(
        "1,838 questions and 16,113 examples",
        licence="not stated by the authors",
        hub="ybisk/piqa",
        original="valid.jsonl and valid-labels.lst of https://yonatanbisk.com/piqa",
    )

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its label."""
        return {
            "question": fields.text(record, "goal"),
            "choices": [fields.text(record, "sol1"), fields.text(record, "sol2")],
            "answer": [fields.number(record, "label", 2)],
        }

    def published(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Add the labels of the file beside it."""
        rows, labels = list(super().published(path)), self._labels(path)
        if labels is None:
            yield from rows
            return
        if len(labels) != len(rows):
            counts = f"{len(rows)} rows, and {_beside(path).name} {len(labels)} labels"
            msg = f"{shown_path(path)} has {counts}; expected a label for each row"
            raise DataError(msg)
        yield from ((place, record | {"label": label}) for (place, record), label in zip(rows, labels, strict=True))

    def parts(self, path: Path) -> Sequence[Path]:
        """Return the file, and that of its labels."""
        return [path, *([_beside(path)] if _beside(path).is_file() else [])]

    @staticmethod
    def _labels(path: Path) -> list[str] | None:
        file = _beside(path)
        return decoded(content_of(file), shown_path(file)).split() if file.is_file() else None


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}-labels.lst")
