"""Choices with labels: ARC, CommonsenseQA and OpenBookQA, in two forms: as published, and as on the hub.

{"id": ..., "question": {"stem": ..., "choices": [{"text": ..., "label": "A"}, ...]}, "answerKey": "A"}
{"id": ..., "question": ..., "choices": {"text": [...], "label": [...]}, "answerKey": "A"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import ChoiceBenchmark, to_obtain


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


class Arc(LabelledBenchmark):
    """ARC (Clark et al., 2018): science questions for schools, in two parts.

    The texts of the choices are scored, as lm-evaluation-harness does.
    """

    strategies = ("cloze_scoring",)
    scores = ("accuracy_chars",)


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


class CommonsenseQa(LabelledBenchmark):
    """CommonsenseQA (Talmor et al., 2019): five choices, of which three are neighbours in ConceptNet.

    Letters are scored, as lm-evaluation-harness does, and texts. The answers of the test split are not public, so the
    development split is evaluated.
    """

    name = "csqa"
    split = "validation"
    files = ("dev_rand_split.jsonl",)
    fewshot_files = ("train_rand_split.jsonl",)
    strategies = ("option_scoring", "cloze_scoring")
    scores = ("accuracy_chars",)
    obtain = to_obtain(
        "dev_rand_split.jsonl, 471,653 bytes: 1,221 questions; and 9,741 examples",
        licence="MIT",
        hub="tau/commonsense_qa",
        original="https://www.tau-nlp.org/commonsenseqa",
    )


class OpenBookQa(LabelledBenchmark):
    """OpenBookQA (Mihaylov et al., 2018): sentences to complete with a fact of elementary science.

    The facts of the open book are not shown. A choice continues the question, in plain text on its line.
    """

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


def _labelled(record: Mapping[str, Any], choices: object) -> tuple[list[str], list[str]]:
    """The texts and the labels."""
    if isinstance(choices, dict):
        pairs = list(zip(fields.texts(choices, "text"), fields.value(choices, list, "label"), strict=False))
    elif isinstance(choices, list) and all(isinstance(choice, dict) for choice in choices):
        pairs = [(fields.text(choice, "text"), fields.value(choice, object, "label")) for choice in choices]
    else:
        fault = f"column 'choices': found {type(choices).__name__}, expected a list of objects with text and label"
        msg = f"{fault}; the row has: {', '.join(record)}"
        raise DataError(msg)
    return [text for text, _ in pairs], [str(label) for _, label in pairs]
