"""Choices that test knowledge: ARC, CommonsenseQA, OpenBookQA, MMLU and TruthfulQA, as published and as on the hub.

ARC and others    {"id": ..., "question": {"stem": ..., "choices": [{"text": ..., "label": "A"}]}, "answerKey": "A"}
the hub           {"id": ..., "question": ..., "choices": {"text": [...], "label": [...]}, "answerKey": "A"}

test/anatomy_test.csv, dev/anatomy_dev.csv        no header: question, four choices, the letter of the right one
the hub           {"question": ..., "subject": "anatomy", "choices": [...], "answer": 2}; the first choice is 0

mc_task.json      [{"question": ..., "mc1_targets": {"A true text.": 1, "A false text.": 0}, "mc2_targets": {...}}]
TruthfulQA.csv    Question, Best Answer, Correct Answers, Incorrect Answers; several are separated by semicolons
the hub           {"question": ..., "mc1_targets": {"choices": [...], "labels": [...]}, "mc2_targets": {...}}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pytest_puma.core import DataError
from pytest_puma.datasets.table import csv_cells
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import ChoiceBenchmark
from pytest_puma.scenarios.file import text_of

#: The cells of a row of MMLU.
_CELLS = 6


class LabelledBenchmark(ChoiceBenchmark):
    """The base of loaders of these forms. Labels are A to E or 1 to 5: `answerKey` is looked up among them."""

    key = "id"
    scores = ("accuracy_chars",)

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record of either form."""
        question = record.get("question")
        nested = question if isinstance(question, dict) else record
        choices, labels = _labelled(record, nested.get("choices"))
        return {
            "id": fields.text(record, "id"),
            "question": fields.text(nested, "stem", "question", "question_stem").strip(),
            "choices": choices,
            "answer": [fields.position(record, "answerKey", labels, first=1)],
        }


class Arc(LabelledBenchmark):
    """ARC (Clark et al., 2018): science questions for schools, in two parts.

    The texts of the choices are scored, as lm-evaluation-harness does.
    """

    licence = "CC BY-SA 4.0"
    original = "ARC-V1-Feb2018 of the Allen Institute for AI"


class ArcEasy(Arc):
    """The questions that simple programs answer."""

    name = "arc_easy"
    files = ("ARC-Easy-Test.jsonl", "ARC-Easy/test-*.parquet")
    fewshot_files = ("ARC-Easy-Train.jsonl", "ARC-Easy/train-*.parquet")
    contents = "2,376 questions and 2,251 examples"
    hub = "allenai/ai2_arc:ARC-Easy/*"


class ArcChallenge(Arc):
    """The questions that simple programs get wrong."""

    name = "arc_challenge"
    files = ("ARC-Challenge-Test.jsonl", "ARC-Challenge/test-*.parquet")
    fewshot_files = ("ARC-Challenge-Train.jsonl", "ARC-Challenge/train-*.parquet")
    contents = "1,172 questions and 1,119 examples"
    hub = "allenai/ai2_arc:ARC-Challenge/*"


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
    contents = "dev_rand_split.jsonl, 471,653 bytes: 1,221 questions; and 9,741 examples"
    licence = "MIT"
    hub = "tau/commonsense_qa"
    original = "https://www.tau-nlp.org/commonsenseqa"


class OpenBookQa(LabelledBenchmark):
    """OpenBookQA (Mihaylov et al., 2018): sentences to complete with a fact of elementary science.

    The facts of the open book are not shown. A choice continues the question, in plain text on its line.
    """

    name = "openbookqa"
    files = ("test.jsonl", "main/test-*.parquet")
    fewshot_files = ("train.jsonl", "main/train-*.parquet")
    contents = "500 questions and 4,957 examples"
    licence = "not stated on the hub"
    hub = "allenai/openbookqa:main/*"
    original = "Data/Main/test.jsonl of OpenBookQA-V1-Sep2018 by the Allen Institute for AI"

    def continued(self, item: dict[str, Any]) -> str:
        """Return the question."""
        return self.question(item)


class Mmlu(ChoiceBenchmark):
    """MMLU (Hendrycks et al., 2021): four choices in each of 57 subjects; examples come from the same subject.

    Questions as in the paper; letters are scored after five examples of the subject.
    """

    name = "mmlu"
    fewshot_split = "dev"
    files = ("test", "all/test-*.parquet")
    fewshot_files = ("dev", "all/dev-*.parquet")
    group_columns = ("subject",)
    question_first = ""
    strategies = ("option_scoring_5",)
    contents = "14,042 questions in 57 subjects, and 285 examples"
    licence = "MIT"
    hub = "cais/mmlu:all/*"
    original = "the folder in https://people.eecs.berkeley.edu/~hendrycks/data.tar"

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
            "answer": [fields.position(record, "answer", ("A", "B", "C", "D")[: len(choices)])],
        }

    def published(self, path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
        """Read a folder of CSV files, one of them, or a file of the hub."""
        if path.is_dir():
            return ((f"{file.name}, {row}", record) for file in self.parts(path) for row, record in _csv_records(file))
        return _csv_records(path) if path.suffix == ".csv" else super().published(path)


class TruthfulQa(ChoiceBenchmark):
    """TruthfulQA (Lin et al., 2022): questions that people answer wrongly. `mc1` has one true choice, `mc2` several.

    The data have the true choices first, so that letters are asked in several orders. The six questions with answers
    that the paper puts before each question are not part of the prompt.
    """

    targets: ClassVar[Literal["mc1_targets", "mc2_targets"]]
    split = "validation"
    files = ("mc_task.json", "data/mc_task.json", "TruthfulQA.csv", "multiple_choice/validation-*.parquet")
    question_first = "Q: "
    orders = 4
    contents = "817 questions"
    licence = "Apache-2.0"
    hub = "truthfulqa/truthful_qa:multiple_choice/*"
    original = "mc_task.json or TruthfulQA.csv (443,719 bytes) of https://github.com/sylinrl/TruthfulQA"

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


def _of_json(record: Mapping[str, Any], name: str) -> list[tuple[str, bool]]:
    targets: dict[str, Any] = fields.value(record, dict, name)
    if "choices" in targets:
        texts, labels = fields.texts(targets, "choices"), fields.value(targets, list, "labels")
        return [(text, bool(label)) for text, label in zip(texts, labels, strict=False)]
    return [(text, bool(label)) for text, label in targets.items()]
