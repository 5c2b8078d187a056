"""RULER (Hsieh et al., 2024): generated long contexts, in which something is to be found.

niah_single_1/validation.jsonl    {"index": 0, "input": "...", "outputs": ["4711"], "length": 4085}

`answer_prefix`, if a row has one, begins the reply. A file of needles in a haystack in the same form is read, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError, Metric, Prediction, Sample
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.completions import CompletionBenchmark


def references_found(sample: Sample, prediction: Prediction) -> float:
    """Return the share of the references that the reply contains, in upper or lower case.

    In the tasks of questions and answers (`qa_*`) one reference is enough.
    """
    text = prediction.text.casefold()
    hits = [reference.casefold() in text for reference in sample.references]
    return float(any(hits)) if sample.groups["task"].startswith("qa") else sum(hits) / len(hits)


REFERENCES_FOUND = Metric(name="references_found", score=references_found, kinds=frozenset({"completion"}))


class Ruler(CompletionBenchmark):
    """The context with its question; `references_found` is the metric of the authors."""

    name = "ruler"
    text_fields = ("input",)
    group_columns = ("task",)
    max_tokens = 128
    strategies = ("zero_shot",)
    scores = (
        Metric(name="references_found", score=references_found, kinds=frozenset({"completion"})),
        "exact_match.loose",
    )
    obtain = to_obtain(
        "what its scripts generate for your tokenizer and length: the file of a task, or the folder of all tasks",
        licence="Apache-2.0",
        original="scripts/data of https://github.com/NVIDIA/RULER",
    )

    def split_in_folder(self, folder: Path, split: str) -> Path:  # noqa: ARG002 - there is one split
        """Return the folder of all tasks."""
        return folder

    def examples(self) -> None:
        """None: there is no split of examples."""

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the context and the question."""
        return str(item["input"])

    def cue(self, item: dict[str, Any]) -> str:
        """Return the published beginning of the reply."""
        return str(item["answer_prefix"]).strip()

    def truth(self, item: dict[str, Any]) -> list[str]:
        """Return all outputs."""
        return list(item["outputs"])

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record; the rest of it remains, as `length`."""
        outputs = fields.texts(record, "outputs", empty=False)
        prefix = fields.string(record, "answer_prefix") if "answer_prefix" in record else ""
        return {**record, "input": fields.text(record, "input"), "outputs": outputs, "answer_prefix": prefix}

    def published(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read each file; the name of its folder is the task, if the file is called as a split."""
        for file in self.parts(path):
            task = file.parent.name if file.stem in {"validation", "test"} else file.stem
            for place, record in super().published(file):
                yield f"{file.name}, {place}", {"task": task, **record}

    def parts(self, path: Path) -> list[Path]:
        """Return the JSON Lines files."""
        files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
        if not files:
            msg = f"scenario {self.name!r}: no JSON Lines file in {path}; expected one for each task"
            raise DataError(msg)
        return files
