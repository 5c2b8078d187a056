"""Choices that continue a text: HellaSwag, GoldenSwag, COPA, PIQA and Winogrande.

hellaswag_val.jsonl  {"activity_label": ..., "ctx_a": ..., "ctx_b": ..., "ctx": ..., "endings": [...], "label": 3}
valid.jsonl          {"goal": ..., "sol1": ..., "sol2": ...}      beside it valid-labels.lst: a 0 or 1 for each line
val.jsonl            {"premise": ..., "choice1": ..., "choice2": ..., "question": "cause", "label": 0}
dev.jsonl            {"sentence": "The cup fell on the rug, _ broke.", "option1": ..., "option2": ..., "answer": "1"}

On the hub, HellaSwag has texts as labels, and PIQA a column `label`. The answers of the test splits are not public, so
the validation splits are evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import ChoiceBenchmark
from pytest_puma.scenarios.file import shown_path, text_of

_BLANK = "_"
_CONNECTIVES = {"cause": "because", "effect": "therefore"}


class HellaSwag(ChoiceBenchmark):
    """HellaSwag (Zellers et al., 2019): four endings of a text about an activity, scored as its continuations.

    Half of the texts are from WikiHow, with marks in brackets, which are cleaned as in lm-evaluation-harness.
    """

    name = "hellaswag"
    split = "validation"
    files = ("hellaswag_val.jsonl",)
    fewshot_files = ("hellaswag_train.jsonl",)
    question_first = "Which ending fits best?\n"
    scores = ("accuracy_chars",)
    contents = "10,042 texts and 39,905 examples"
    licence = "MIT"
    hub = "Rowan/hellaswag"
    original = "data/hellaswag_val.jsonl of https://github.com/rowanz/hellaswag"

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


class GoldenSwag(HellaSwag):
    """GoldenSwag (Chizhov et al., 2025): the questions of HellaSwag without faults; others of them are the examples."""

    name = "goldenswag"
    files = ("data/validation-*.parquet",)
    contents = "1,525 texts"
    licence = "that of its page on the hub; HellaSwag: MIT"
    hub = "PleIAs/GoldenSwag"
    original = "the hub alone"

    def examples(self) -> None:
        """None: texts that are not evaluated are the examples."""


class Copa(ChoiceBenchmark):
    """COPA (Roemmele et al., 2011): the cause or the effect of a sentence, scored as its continuation.

    `because` or `therefore` stands in place of the full stop, and a choice begins in lower case, also `i`, as in
    lm-evaluation-harness. The form is that of SuperGLUE, whose test split has no answers.
    """

    name = "copa"
    split = "validation"
    files = ("val.jsonl", "COPA/val.jsonl", "copa/validation-*.parquet")
    fewshot_files = ("train.jsonl", "COPA/train.jsonl", "copa/train-*.parquet")
    question_first = ""
    protected = ("because", "therefore")
    strategies = ("cloze_scoring", "option_scoring")
    scores = ("accuracy_chars",)
    contents = "100 sentences and 400 examples"
    licence = "BSD 2-Clause"
    hub = "aps/super_glue:copa/*"
    original = "COPA.zip of https://super.gluebenchmark.com/tasks"

    def continued(self, item: dict[str, Any]) -> str:
        """Return the sentence."""
        return self.question(item)

    def instruction(self, item: dict[str, Any], options: str) -> str:
        """Return the sentence with its options, or a request to complete it."""
        return super().instruction(item, options) if options else f"Complete the sentence:\n{self.question(item)}"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record whose question ends with the connective."""
        asked = fields.text(record, "question")
        if asked not in _CONNECTIVES:
            msg = f"column 'question': found {asked!r}, expected cause or effect"
            raise DataError(msg)
        choices = [fields.text(record, name) for name in ("choice1", "choice2")]
        return {
            "question": f"{fields.text(record, 'premise').strip().removesuffix('.')} {_CONNECTIVES[asked]}",
            "choices": [choice[0].lower() + choice[1:] for choice in choices],
            "answer": [fields.number(record, "label", 2)],
        }


class LabelledLines(ChoiceBenchmark):
    """The base of loaders whose labels are in a file beside the rows, or in their column `label`."""

    def published(self, path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
        """Add the labels of the file beside it."""
        rows, file = list(super().published(path)), _beside(path)
        if not file.is_file():
            return rows
        labels = text_of(file).split()
        if len(labels) != len(rows):
            counts = f"{len(rows)} rows, and {file.name} {len(labels)} labels"
            msg = f"{shown_path(path)} has {counts}; expected a label for each row"
            raise DataError(msg)
        return [(row, record | {"label": label}) for (row, record), label in zip(rows, labels, strict=True)]

    def parts(self, path: Path) -> Sequence[Path]:
        """Return the file, and that of its labels."""
        return [path, *filter(Path.is_file, (_beside(path),))]


class Piqa(LabelledLines):
    """PIQA (Bisk et al., 2020): two ways to reach a goal with things of the household, scored as its answers."""

    name = "piqa"
    split = "validation"
    files = ("valid.jsonl", "dev.jsonl")
    scores = ("accuracy_chars",)
    contents = "1,838 questions and 16,113 examples"
    licence = "not stated by the authors"
    hub = "ybisk/piqa"
    original = "valid.jsonl and valid-labels.lst of https://yonatanbisk.com/piqa"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its label."""
        return {
            "question": fields.text(record, "goal"),
            "choices": [fields.text(record, "sol1"), fields.text(record, "sol2")],
            "answer": [fields.number(record, "label", 2)],
        }


class Winogrande(ChoiceBenchmark):
    """Winogrande (Sakaguchi et al., 2020): which of two names belongs into the blank of a sentence.

    The text behind the blank is scored after each name: partial evaluation, as in the paper.
    """

    name = "winogrande"
    split = "validation"
    files = ("dev.jsonl", "winogrande_xl/validation-*.parquet")
    fewshot_files = ("train_xl.jsonl", "winogrande_xl/train-*.parquet")
    question_first = "Which of the two belongs into the blank?\n"
    protected = (_BLANK,)
    contents = "1,267 sentences and 40,398 examples"
    licence = "CC BY"
    hub = "allenai/winogrande:winogrande_xl/*"
    original = "dev.jsonl of winogrande_1.1 by the Allen Institute for AI"

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


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}-labels.lst")
