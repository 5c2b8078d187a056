"""ARC (Clark et al., 2018): science questions for schools. The labels of the choices are A to E or 1 to 5.

{"id": ..., "question": {"stem": ..., "choices": [{"text": ..., "label": "A"}, ...]}, "answerKey": "A"}
{"id": ..., "question": ..., "choices": {"text": [...], "label": [...]}, "answerKey": "A"}             the hub
"""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.choices import ChoiceBenchmark, labelled


class Arc(ChoiceBenchmark):
    """The base of both parts. The texts of the choices are scored, as lm-evaluation-harness does."""

    key = "id"
    strategies = ("cloze_scoring",)
    scores = ()

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record of either format."""
        question = record.get("question")
        nested = question if isinstance(question, dict) else record
        choices, labels = labelled(record, nested.get("choices"))
        return {
            "id": fields.text(record, "id"),
            "question": fields.text(nested, "stem", "question"),
            "choices": choices,
            "answer": [fields.place(record, "answerKey", labels, first=1)],
        }


class ArcEasy(Arc):
    """The questions that simple programs answer."""

    name = "arc_easy"
    files = ("ARC-Easy-Test.jsonl", "ARC-Easy/test-*.parquet")
    fewshot_files = ("ARC-Easy-Train.jsonl", "ARC-Easy/train-*.parquet")
    obtain = to_obtain(
        "2,376 questions and 2,251 examples",
        licence="CC BY-SA 4.0",
        hub="allenai/ai2_arc:ARC-Easy/*",
        original="ARC-V1-Feb2018 of the Allen Institute for AI",
    )


class ArcChallenge(Arc):
    """The questions that simple programs get wrong."""

    name = "arc_challenge"
    files = ("ARC-Challenge-Test.jsonl", "ARC-Challenge/test-*.parquet")
    fewshot_files = ("ARC-Challenge-Train.jsonl", "ARC-Challenge/train-*.parquet")
    obtain = to_obtain(
        "1,172 questions and 1,119 examples",
        licence="CC BY-SA 4.0",
        hub="allenai/ai2_arc:ARC-Challenge/*",
        original="ARC-V1-Feb2018 of the Allen Institute for AI",
    )
