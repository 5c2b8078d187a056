"""Winogrande (Sakaguchi et al., 2020): which of two names belongs into the blank of a sentence.

{"sentence": "The cup fell on the rug but the _ broke.", "option1": "cup", "option2": "rug", "answer": "1"}

The answers of the test split are not public, so the development split is evaluated.
"""

from __future__ import annotations

from typing import Any

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.choices import ChoiceBenchmark

_BLANK = "_"


class Winogrande(ChoiceBenchmark):
    """The text behind the blank is scored after each name: partial evaluation, as in the paper."""

    name = "winogrande"
    split = "validation"
    files = ("dev.jsonl", "winogrande_xl/validation-*.parquet")
    fewshot_files = ("train_xl.jsonl", "winogrande_xl/train-*.parquet")
    question_first = "Which of the two belongs into the blank?\n"
    protected = (_BLANK,)
    strategies = ("cloze_scoring",)
    obtain = to_obtain(
        "1,267 sentences and 40,398 examples",
        licence="CC BY",
        hub="allenai/winogrande:winogrande_xl/*",
        original="dev.jsonl of winogrande_1.1 by the Allen Institute for AI",
    )

    def continued(self, item: dict[str, Any]) -> str:
        """Return the text before the blank."""
        return self._parts(item)[0].rstrip()

    def ending(self, item: dict[str, Any]) -> str:
        """Return the text behind the blank."""
        return self._parts(item)[1].strip()

    def instruction(self, item: dict[str, Any], options: str) -> str:
        """Return the sentence with its options, or the part before the blank."""
        return super().instruction(item, options) if options else f"Complete the sentence:\n{self.continued(item)}"

    def _parts(self, item: dict[str, Any]) -> tuple[str, str]:
        """The text before the blank and behind it; without a blank the names would be scored under the same metric."""
        sentence = self.question(item)
        before, _, behind = sentence.partition(_BLANK)
        if not before.strip() or not behind.strip():
            expected = f"expected a blank {_BLANK} with text around it"
            msg = f"found {sentence!r}, {expected}: a perturbation that cuts the sentence is not for {self.name}"
            raise DataError(msg)
        return before, behind

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record whose sentence has one blank."""
        sentence = fields.text(record, "sentence")
        before, _, behind = sentence.partition(_BLANK)
        if not before.strip() or not behind.strip() or _BLANK in behind:
            msg = f"column 'sentence': found {sentence!r}, expected a sentence with one {_BLANK} and text around it"
            raise DataError(msg)
        return {
            "question": sentence,
            "choices": [fields.text(record, "option1"), fields.text(record, "option2")],
            "answer": [fields.number(record, "answer", 2, first=1)],
        }
