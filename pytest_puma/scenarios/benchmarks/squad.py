"""SQuAD (Rajpurkar et al., 2016 and 2018): questions about a paragraph; the answer is a part of it.

dev-v1.1.json    {"data": [{"title": ..., "paragraphs": [{"context": ..., "qas": [{"id": ..., "question": ...,
                  "answers": [{"text": ..., "answer_start": 0}]}]}]}]}
the hub          {"id": ..., "title": ..., "context": ..., "question": ..., "answers": {"text": [...]}}

The second version has questions without an answer; their truth is the word that the prompt asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark, nested_records, to_obtain

_NONE = "unanswerable"


class Squad(CompletionBenchmark):
    """Questions that the paragraph answers."""

    name = "squad"
    split = "validation"
    key = "id"
    text_fields = ("context", "question")
    files = ("dev-v1.1.json", "plain_text/validation-*.parquet")
    fewshot_files = ("train-v1.1.json", "plain_text/train-*.parquet")
    stop = ("\n",)
    max_tokens = 64
    strategies = ("zero_shot", "few_shot_3")
    scores = ("f1_squad", "exact_match.loose")
    without_answer = False
    instruction_pattern = "Title: {title}\n\nText: {context}\n\nQuestion: {question}"
    cue_pattern = "Answer:"
    truth_column = "answers"
    obtain = to_obtain(
        "dev-v1.1.json, 4,854,279 bytes: 10,570 questions",
        licence="CC BY-SA 4.0",
        hub="rajpurkar/squad",
        original="https://rajpurkar.github.io/SQuAD-explorer",
        checksum="95aa6a52d5d6a735563366753ca50492a658031da74f301ac5238b03966972c9",
    )

    def preamble(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - the same for each row
        """Ask for the form of the answer."""
        none = f' Write "{_NONE}" if the text does not tell it.' if self.without_answer else ""
        return f"Answer the question with as few words of the text as possible.{none}"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its answers as a list of texts."""
        answers = fields.value(record, object, "answers")
        texts = fields.texts(answers, "text") if isinstance(answers, dict) else _texts(record)
        if not texts and not self.without_answer:
            msg = "column 'answers': found no answer, expected at least one; squad_v2 has questions without an answer"
            raise DataError(msg)
        names = ("id", "title", "context", "question")
        columns = {name: fields.text(record, name).strip() for name in names}
        return columns | {"answers": list(dict.fromkeys(texts)) or [_NONE]}

    def published(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read the nested JSON of the authors, or a file of the hub."""
        if path.suffix == ".json":
            expected = '{"data": [{"title": ..., "paragraphs": ...}]}'
            questions = nested_records(path, _questions, system="SQuAD", expected=expected)
            yield from ((f"question {number}", question) for number, question in enumerate(questions, start=1))
        else:
            yield from super().published(path)


class SquadV2(Squad):
    """Questions of which a half has no answer in the paragraph."""

    name = "squad_v2"
    files = ("dev-v2.0.json", "squad_v2/validation-*.parquet")
    fewshot_files = ("train-v2.0.json", "squad_v2/train-*.parquet")
    without_answer = True
    obtain = to_obtain(
        "dev-v2.0.json, 4,370,528 bytes: 11,873 questions",
        licence="CC BY-SA 4.0",
        hub="rajpurkar/squad_v2",
        original="https://rajpurkar.github.io/SQuAD-explorer",
        checksum="80a5225e94905956a6446d296ca1093975c4d3b3260f1d6c8f68bc2ab77182d8",
    )


def _texts(record: dict[str, Any]) -> list[str]:
    return [fields.text(answer, "text") for answer in fields.value(record, list, "answers")]


def _questions(content: Any) -> list[dict[str, Any]]:
    return [
        {"title": article["title"], "context": paragraph["context"], **question}
        for article in content["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
