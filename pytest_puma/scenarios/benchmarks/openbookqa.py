"""OpenBookQA (Mihaylov et al., 2018): sentences to complete with a fact of elementary science. See `labelled`."""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.labelled import LabelledBenchmark


class OpenBookQa(LabelledBenchmark):
    """Questions without the facts of the open book. A choice continues the question, in plain text on its line."""

    name = "openbookqa"
    files = ("test.jsonl", "main/test-*.parquet")
    fewshot_files = ("train.jsonl", "main/train-*.parquet")
    strategies = ("cloze_scoring",)
    scores = ("accuracy_chars",)
    obtain = to_obtain(
        "500 questions and 4,957 examples",
        licence="not stated on the hub",
        hub="allenai/openbookqa:main/*",
        original="Data/Main/test.jsonl of OpenBookQA-V1-Sep2018 by the Allen Institute for AI",
    )

    def continued(self, item: dict[str, Any]) -> str:
        """Return the question."""
        return self.question(item)
