"""HellaSwag (Zellers et al., 2019): four endings of a text about an activity.

{"activity_label": ..., "ctx_a": ..., "ctx_b": ..., "ctx": ..., "endings": [...], "label": 3}      on the hub "3"

The answers of the test split are not public, so the validation split is evaluated. Half of the texts are from WikiHow,
with marks in brackets, which are cleaned as in lm-evaluation-harness.
"""

from __future__ import annotations

import re
from typing import Any

from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.choices import ChoiceBenchmark


class HellaSwag(ChoiceBenchmark):
    """The endings are scored as continuations of the text."""

    name = "hellaswag"
    split = "validation"
    files = ("hellaswag_val.jsonl",)
    fewshot_files = ("hellaswag_train.jsonl",)
    question_first = "Which ending fits best?\n"
    strategies = ("cloze_scoring",)
    scores = ("accuracy_chars",)
    obtain = to_obtain(
        "10,042 texts and 39,905 examples",
        licence="MIT",
        hub="Rowan/hellaswag",
        original="data/hellaswag_val.jsonl of https://github.com/rowanz/hellaswag",
    )

    def continued(self, item: dict[str, Any]) -> str:
        """Return the text."""
        return self.question(item)

    def instruction(self, item: dict[str, Any], options: str) -> str:
        """Return the text, with an instruction if the endings are shown."""
        return super().instruction(item, options) if options else self.question(item)

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with cleaned texts."""
        endings = fields.texts(record, "endings")
        return {
            "question": cleaned(_context(record)),
            "choices": list(map(cleaned, endings)),
            "answer": [fields.number(record, "label", len(endings))],
        }


def _context(record: dict[str, Any]) -> str:
    """The activity and the text, whose second part begins a sentence; copies of the data may only have `ctx`."""
    if "ctx_a" not in record:
        return fields.text(record, "ctx")
    activity, beginning, rest = (fields.string(record, name) for name in ("activity_label", "ctx_a", "ctx_b"))
    return f"{activity}: {beginning} {rest.capitalize()}"


def cleaned(text: str) -> str:
    """Return a text in which a title in WikiHow begins a sentence, and without other marks in brackets."""
    sentences = text.strip().replace(" [title]", ". ")
    return re.sub(r"\[.*?\]", "", sentences).replace("  ", " ")
