"""Choices with labels, in the two forms of ARC, CommonsenseQA and OpenBookQA: as published, and as on the hub.

{"id": ..., "question": {"stem": ..., "choices": [{"text": ..., "label": "A"}, ...]}, "answerKey": "A"}
{"id": ..., "question": ..., "choices": {"text": [...], "label": [...]}, "answerKey": "A"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.choices import ChoiceBenchmark


class LabelledBenchmark(ChoiceBenchmark):
    """The base of loaders of these forms. Labels are A to E or 1 to 5: `answerKey` is looked up among them."""

    key = "id"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record of either form."""
        question = record.get("question")
        nested = question if isinstance(question, dict) else record
        choices, labels = _labelled(record, nested.get("choices"))
        return {
            "id": fields.text(record, "id"),
            "question": fields.text(nested, "stem", "question", "question_stem").strip(),
            "choices": choices,
            "answer": [fields.place(record, "answerKey", labels, first=1)],
        }


def _labelled(record: Mapping[str, Any], choices: object) -> tuple[list[str], list[str]]:
    """The texts and the labels."""
    if isinstance(choices, dict):
        pairs = list(zip(fields.texts(choices, "text"), fields.value(choices, list, "label"), strict=False))
    elif isinstance(choices, list) and all(isinstance(each, dict) for each in choices):
        pairs = [(fields.text(each, "text"), fields.value(each, object, "label")) for each in choices]
    else:
        fault = f"column 'choices': found {type(choices).__name__}, expected a list of objects with text and label"
        msg = f"{fault}; the row has: {', '.join(record)}"
        raise DataError(msg)
    return [text for text, _ in pairs], [str(label) for _, label in pairs]
