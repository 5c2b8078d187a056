"""Short answers from memory: Natural Questions and TriviaQA.

NQ-open.dev.jsonl    {"question": "who wrote ...", "answer": ["...", "..."]}
wikipedia-dev.json   {"Data": [{"Question": ..., "QuestionId": ..., "Answer": {"Value": ..., "Aliases": [...]}}]}
the hub              {"question": ..., "question_id": ..., "answer": {"value": ..., "aliases": [...]}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark, nested_records


class ShortAnswers(CompletionBenchmark):
    """The base of both: a question, and all answers that count. Examples show the first one."""

    split = "validation"
    text_fields = ("question",)
    stop = ("\n",)
    max_tokens = 50
    strategies = ("few_shot_5",)
    instruction_pattern = "Question: {question}"
    cue_pattern = "Answer:"
    truth_column = "answers"


class NaturalQuestions(ShortAnswers):
    """Natural Questions (Kwiatkowski et al., 2019) without their pages: NQ-Open (Lee et al., 2019)."""

    name = "naturalqs"
    files = ("NQ-open.dev.jsonl", "nq_open/validation-*.parquet")
    fewshot_files = ("NQ-open.train.jsonl", "nq_open/train-*.parquet")
    scores = ("exact_match.loose", "drop.f1")
    contents = "3,610 questions and 87,925 examples"
    licence = "CC BY-SA 3.0"
    hub = "google-research-datasets/nq_open"
    original = "nq_open/ of https://github.com/google-research-datasets/natural-questions"

    def context(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """Return each answer as one span: commas in it separate nothing."""
        return {"answers": [[answer] for answer in item["answers"]]}

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record."""
        answers = fields.texts(record, "answer", empty=False)
        return {"question": fields.text(record, "question").strip(), "answers": list(dict.fromkeys(answers))}


class TriviaQa(ShortAnswers):
    """TriviaQA (Joshi et al., 2017) without documents: those about Wikipedia. Each alias of an answer counts."""

    name = "triviaqa"
    files = ("wikipedia-dev.json", "qa/wikipedia-dev.json", "rc.wikipedia.nocontext/validation-*.parquet")
    fewshot_files = ("wikipedia-train.json", "qa/wikipedia-train.json", "rc.wikipedia.nocontext/train-*.parquet")
    scores = ("exact_match.loose", "f1_squad")
    contents = "7,993 questions and 61,888 examples"
    licence = "not stated by the authors"
    hub = "mandarjoshi/trivia_qa:rc.wikipedia.nocontext/*"
    original = "qa/ of triviaqa-rc.tar.gz from https://nlp.cs.washington.edu/triviaqa"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record of either form."""
        answer = fields.value(record, dict, "answer", "Answer")
        answers = [fields.text(answer, "value", "Value"), *fields.texts(answer, "aliases", "Aliases")]
        question = fields.text(record, "question", "Question").strip()
        return {"question": question, "answers": list(dict.fromkeys(answers))}

    def published(self, path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
        """Read the nested JSON of the authors, or a file of the hub."""
        if path.suffix != ".json":
            return super().published(path)
        expected = '{"Data": [{"Question": ..., "Answer": ...}]}'
        return nested_records(path, _questions, row="question", system="TriviaQA", expected=expected)


def _questions(content: Any) -> list[dict[str, Any]]:
    return [dict(question) for question in content["Data"]]
