"""Answers in a text of the prompt: SQuAD, DROP and RULER.

dev-v1.1.json    {"data": [{"title": ..., "paragraphs": [{"context": ..., "qas": [{"id": ..., "question": ...,
                  "answers": [{"text": ..., "answer_start": 0}]}]}]}]}
the hub          {"id": ..., "title": ..., "context": ..., "question": ..., "answers": {"text": [...]}}
drop_dataset_dev.json    {"history_1": {"passage": ..., "qa_pairs": [{"query_id": ..., "question": ..., "answer":
                  {"number": "", "spans": ["Rome", "Milan"], "date": {...}}, "validated_answers": [{...}]}]}}
the hub          {"passage": ..., "question": ..., "answer": {...}, "validated_answers": {"number": [...], ...}}
niah_single_1/validation.jsonl    {"index": 0, "input": "...", "outputs": ["4711"], "length": 4085}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError, Metric, Prediction, Sample
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark, TaskFiles, nested_records

_NONE = "unanswerable"
#: What an answer of DROP may be.
_PARTS = ("number", "date", "spans")


class Squad(CompletionBenchmark):
    """SQuAD (Rajpurkar et al., 2016): questions about a paragraph; the answer is a part of it."""

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
    contents = "dev-v1.1.json, 4,854,279 bytes: 10,570 questions"
    licence = "CC BY-SA 4.0"
    hub = "rajpurkar/squad"
    original = "https://rajpurkar.github.io/SQuAD-explorer"
    checksum = "95aa6a52d5d6a735563366753ca50492a658031da74f301ac5238b03966972c9"

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

    def published(self, path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
        """Read the nested JSON of the authors, or a file of the hub."""
        if path.suffix != ".json":
            return super().published(path)
        expected = '{"data": [{"title": ..., "paragraphs": ...}]}'
        return nested_records(path, _questions, row="question", system="SQuAD", expected=expected)


class SquadV2(Squad):
    """SQuAD 2.0 (Rajpurkar et al., 2018): a half of the questions has no answer; their truth is the requested word."""

    name = "squad_v2"
    files = ("dev-v2.0.json", "squad_v2/validation-*.parquet")
    fewshot_files = ("train-v2.0.json", "squad_v2/train-*.parquet")
    without_answer = True
    contents = "dev-v2.0.json, 4,370,528 bytes: 11,873 questions"
    hub = "rajpurkar/squad_v2"
    checksum = "80a5225e94905956a6446d296ca1093975c4d3b3260f1d6c8f68bc2ab77182d8"


def _texts(record: dict[str, Any]) -> list[str]:
    return [fields.text(answer, "text") for answer in fields.value(record, list, "answers")]


def _questions(content: Any) -> list[dict[str, Any]]:
    return [
        {"title": article["title"], "context": paragraph["context"], **question}
        for article in content["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]


class DropPassages(CompletionBenchmark):
    """DROP (Dua et al., 2019): questions about a paragraph that ask to count, add or sort; numbers, dates or spans.

    Each person's answer is a list of spans, and the best one counts. A few questions without any are left out.
    """

    name = "drop"
    split = "validation"
    key = "query_id"
    text_fields = ("passage", "question")
    files = ("drop_dataset_dev.json", "default/validation/*.parquet")
    fewshot_files = ("drop_dataset_train.json", "default/train/*.parquet")
    stop = ("\n",)
    max_tokens = 100
    strategies = ("few_shot_3",)
    scores = ("drop.f1", "drop.exact")
    instruction_pattern = "Passage: {passage}\nQuestion: {question}"
    cue_pattern = "Answer:"
    contents = "drop_dataset_dev.json: 9,536 questions; and 77,409 examples"
    licence = "CC BY-SA 4.0"
    hub = "EleutherAI/drop"
    original = "drop_dataset.zip by the Allen Institute for AI"

    def truth(self, item: dict[str, Any]) -> list[str]:
        """Return the spans of each answer in one text."""
        return [", ".join(spans) for spans in item["answers"]]

    def context(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """Return the spans of each answer."""
        return {"answers": item["answers"]}

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with all answers, each once."""
        others = record.get("validated_answers") or []
        if isinstance(others, dict):  # a list for each field
            rows = zip(*(others[name] for name in _PARTS), strict=False)
            others = [dict(zip(_PARTS, row, strict=True)) for row in rows]
        answers = [_spans(answer) for answer in (fields.value(record, dict, "answer"), *others)]
        distinct = dict.fromkeys(tuple(spans) for spans in answers if any(spans))
        columns = {name: fields.text(record, name).strip() for name in ("query_id", "passage", "question")}
        return columns | {"answers": list(map(list, distinct))}

    def records(self, path: Path) -> Iterator[dict[str, Any]]:
        """The rows with an answer."""
        return (row for row in super().records(path) if row["answers"])

    def published(self, path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
        """Read the nested JSON of the authors, or a file of the hub."""
        if path.suffix != ".json":
            return super().published(path)
        expected = '{"history_1": {"passage": ..., "qa_pairs": ...}}'
        return nested_records(path, _pairs, row="question", system="DROP", expected=expected)


def _spans(answer: dict[str, Any]) -> list[str]:
    """The number, the spans, or the parts of the date."""
    if number := str(answer.get("number") or ""):
        return [number]
    date = answer.get("date") or {}
    return list(answer.get("spans") or [" ".join(filter(None, map(date.get, ("day", "month", "year"))))])


def _pairs(content: Any) -> list[dict[str, Any]]:
    return [
        {"passage": passage["passage"], **question}
        for passage in {**content}.values()
        for question in passage["qa_pairs"]
    ]


def references_found(sample: Sample, prediction: Prediction) -> float:
    """Return the share of the references that the reply contains, in upper or lower case.

    In the tasks of questions and answers (`qa_*`) one reference is enough.
    """
    text = prediction.text.casefold()
    hits = [reference.casefold() in text for reference in sample.references]
    return float(any(hits)) if sample.groups["task"].startswith("qa") else sum(hits) / len(hits)


REFERENCES_FOUND = Metric(name="references_found", score=references_found, kinds=frozenset({"completion"}))


class Ruler(TaskFiles):
    """RULER (Hsieh et al., 2024): generated long contexts, in which something is to be found.

    `references_found` is the metric of the authors. `answer_prefix`, if a row has one, begins the reply. A file of
    needles in a haystack in the same form is read, too.
    """

    name = "ruler"
    pattern, form = "**/*.jsonl", "JSON Lines"
    max_tokens = 128
    scores = (REFERENCES_FOUND, "exact_match.loose")
    instruction_pattern = "{input}"
    truth_column = "outputs"
    contents = "what its scripts generate for your tokenizer and length: the file of a task, or the folder of all tasks"
    licence = "Apache-2.0"
    original = "scripts/data of https://github.com/NVIDIA/RULER"

    def cue(self, item: dict[str, Any]) -> str:
        """Return the published beginning of the reply."""
        return str(item["answer_prefix"]).strip()

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record; the rest of it remains, as `length`."""
        outputs = fields.texts(record, "outputs", empty=False)
        prefix = fields.string(record, "answer_prefix") if "answer_prefix" in record else ""
        return {**record, "input": fields.text(record, "input"), "outputs": outputs, "answer_prefix": prefix}

    def published(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read each file; the name of its folder is the task, if the file is called as a split."""
        for file in self.parts(path):
            task = file.parent.name if file.stem in {"validation", "test"} else file.stem
            for row, record in super().published(file):
                yield f"{file.name}, {row}", {"task": task, **record}
