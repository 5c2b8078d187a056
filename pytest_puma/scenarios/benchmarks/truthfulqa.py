"""TruthfulQA (Lin et al., 2022): questions that people answer wrongly. `mc1` has one true choice, `mc2` several.

mc_task.json      [{"question": ..., "mc1_targets": {"A true text.": 1, "A false text.": 0}, "mc2_targets": {...}}]
TruthfulQA.csv    Question, Best Answer, Correct Answers, Incorrect Answers; several are separated by semicolons
the hub           {"question": ..., "mc1_targets": {"choices": [...], "labels": [...]}, "mc2_targets": {...}}

The six questions with answers that the paper puts before each question are not part of the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import ChoiceBenchmark, to_obtain


class TruthfulQa(ChoiceBenchmark):
    """The base of both. The data have the true choices first, so that letters are asked in several orders."""

    targets: ClassVar[Literal["mc1_targets", "mc2_targets"]]
    split = "validation"
    files = ("mc_task.json", "data/mc_task.json", "TruthfulQA.csv", "multiple_choice/validation-*.parquet")
    question_first = "Q: "
    orders = 4
    strategies = ("cloze_scoring",)
    obtain = to_obtain(
        "817 questions",
        licence="Apache-2.0",
        hub="truthfulqa/truthful_qa:multiple_choice/*",
        original="mc_task.json or TruthfulQA.csv (443,719 bytes) of https://github.com/sylinrl/TruthfulQA",
    )

    def cue(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - the same for each row
        """Return the beginning of an answer."""
        return "A:"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record of any of the formats."""
        choices = self._of_csv(record) if "Best Answer" in record else _of_json(record, self.targets)
        answer = [position for position, (_, true) in enumerate(choices) if true]
        if not answer:
            msg = f"column {self.targets!r}: no choice is true; expected a label 1 for at least one"
            raise DataError(msg)
        question = fields.text(record, "question", "Question")
        return {"question": question, "choices": [text for text, _ in choices], "answer": answer}

    def _of_csv(self, record: Mapping[str, Any]) -> list[tuple[str, bool]]:
        true = "Best Answer" if self.targets == "mc1_targets" else "Correct Answers"
        parts = [
            (part, name == true)
            for name in (true, "Incorrect Answers")
            for part in fields.text(record, name).split(";")
        ]
        return [(f"{part.strip().removesuffix('.')}.", right) for part, right in parts if part.strip()]


class TruthfulQaMc1(TruthfulQa):
    """Whether the most probable choice is the true one."""

    name = "truthfulqa_mc1"
    targets = "mc1_targets"


class TruthfulQaMc2(TruthfulQa):
    """The probability of all true choices, among that of all choices."""

    name = "truthfulqa_mc2"
    targets = "mc2_targets"
    scores = ("probability_mass",)

    def primary_metric(self) -> str:
        """Return the sum of the probabilities."""
        return "probability_mass"


def _of_json(record: Mapping[str, Any], name: str) -> list[tuple[str, bool]]:
    targets: dict[str, Any] = fields.value(record, dict, name)
    if "choices" in targets:
        texts, labels = fields.texts(targets, "choices"), fields.value(targets, list, "labels")
        return [(text, bool(label)) for text, label in zip(texts, labels, strict=False)]
    return [(text, bool(label)) for text, label in targets.items()]
