"""Small data sets with free text as answers, in one language or three: a class each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_puma.scenarios.worded import WordedScenario

_CUES = {"en": "Answer:", "de": "Antwort:", "es": "Respuesta:"}
_LANGUAGES = {"en": "English", "de": "German", "es": "Spanish"}
_DIRECTIONS = (("en", "de"), ("de", "en"), ("en", "es"), ("es", "en"))


class CapitalsScenario(WordedScenario):
    """The capital of a country; several spellings count. The three languages share their countries."""

    name = "capitals"
    data = {"test": "capitals.jsonl", "train": "capitals_dev.jsonl"}  # noqa: RUF012 - a declaration, read only
    key = "id"
    unit_columns = ("country_code",)
    group_columns = ("language", "continent")
    required = {"question": str, "answer": list}  # noqa: RUF012
    text_fields = ("question",)
    scores = ("contains", "exact_match.loose")
    stop = ("\n",)
    max_tokens = 24
    instruction_pattern = "{question}"

    def cue(self, item: dict[str, Any]) -> str:
        """Return `Answer:` in the language of the question."""
        return _CUES.get(item["language"], "Answer:")


class ArithmeticWordScenario(WordedScenario):
    """Word problems of one to three steps with whole numbers; examples show the steps, and `#### ` with the number."""

    name = "arithmetic_word"
    data = {"test": "arithmetic_word.jsonl", "train": "arithmetic_word_dev.jsonl"}  # noqa: RUF012 - a declaration
    key = "id"
    required = {"question": str, "answer": str}  # noqa: RUF012
    text_fields = ("question",)
    scores = ("number_match",)
    max_tokens = 128
    instruction_pattern = (
        "{question}\nWrite the calculation, and then the answer as a number on a last line after ####."
    )
    target_pattern = "{answer}"

    def truth(self, item: dict[str, Any]) -> str:
        """Return the number."""
        return str(item["answer"]).rpartition("#### ")[2]


class FormatsScenario(WordedScenario):
    """Facts to be written as JSON or CSV, and texts of a requested length; each metric applies to one kind."""

    name = "formats"
    data = "formats.jsonl"
    key = "id"
    group_columns = ("kind",)
    required = {"prompt": str, "kind": str}  # noqa: RUF012 - a declaration, read only
    text_fields = ("prompt",)
    scores = ("json.schema", "json.equal", "csv.columns", "csv.separator", "length.fulfilled")
    strategies = ("zero_shot",)
    max_tokens = 160
    instruction_pattern = "{prompt}"

    def truth(self, item: dict[str, Any]) -> str | None:
        """Return the expected JSON or table; a text of some length has none."""
        return item.get("expected")

    def context(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the metrics; None for those of other kinds."""
        kind = item["kind"]
        length = {"unit": item["unit"], "count": item["count"], "type": item["bound"]} if kind == "length" else None
        return {
            "json_schema": item["schema"] if kind == "json" else None,
            "csv": {"columns": item["columns"], "separator": item["separator"]} if kind == "csv" else None,
            "length": length,
        }


class InstructionsMiniScenario(WordedScenario):
    """Prompts with one to three instructions that a program can check: the 25 kinds of IFEval, without a truth."""

    name = "instructions_mini"
    data = "instructions_mini.jsonl"
    key = "id"
    required = {"prompt": str, "instruction_id_list": list, "kwargs": list}  # noqa: RUF012 - a declaration, read only
    text_fields = ("prompt",)
    scores = ("ifeval.prompt", "ifeval.instruction", "ifeval.prompt.loose", "ifeval.instruction.loose")
    strategies = ("zero_shot",)
    max_tokens = 256
    instruction_pattern = "{prompt}"
    truth_column = ""

    def context(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return the instructions and their arguments."""
        return {name: item[name] for name in ("instruction_id_list", "kwargs")}


class SummariesMiniScenario(WordedScenario):
    """A report of about 105 words and one reference summary."""

    name = "summaries_mini"
    data = "summaries_mini.jsonl"
    key = "id"
    required = {"text": str, "summary": str}  # noqa: RUF012 - a declaration, read only
    text_fields = ("text",)
    scores = ("rouge_l", "rouge_1", "rouge_2")
    strategies = ("zero_shot",)
    max_tokens = 80
    instruction_pattern = "{text}\n\nSummarise this report in one sentence of at most 25 words."
    truth_column = "summary"


class DialogueMiniScenario(WordedScenario):
    """The reply to the second question, which needs the first turn, or the reply to it.

    The open dialogues of the file, which no program can score, are left out.
    """

    name = "dialogue_mini"
    data = "dialogue_mini.jsonl"
    key = "id"
    group_columns = ("category",)
    required = {"first": str, "second": str, "answer": list}  # noqa: RUF012 - a declaration, read only
    text_fields = ("first", "second")
    scores = ("contains", "f1_squad")
    strategies = ("zero_shot",)
    stop = ("\n",)
    max_tokens = 48
    instruction_pattern = "{first}"

    def records(self, path: Path) -> Iterable[Mapping[str, Any]]:
        """Return the dialogues with an answer."""
        return [record for record in super().records(path) if record.get("answer")]

    def turns(self, item: dict[str, Any]) -> tuple[str, str]:
        """Return both messages."""
        return item["first"], f"{item['second']} Answer in a few words."


class TranslateMiniScenario(WordedScenario):
    """Everyday sentences between English, German and Spanish; the four directions of a sentence are one unit."""

    name = "translate_mini"
    data = {"test": "translate_mini.jsonl", "train": "translate_mini_dev.jsonl"}  # noqa: RUF012 - a declaration
    key = "id"
    unit_columns = ("sentence",)
    group_columns = ("direction",)
    text_fields = ("source",)
    scores = ("chrf", "bleu", "exact_match.loose")
    stop = ("\n",)
    max_tokens = 64
    truth_column = "target"

    def records(self, path: Path) -> Iterable[Mapping[str, Any]]:
        """Return a row for each sentence and direction."""
        return chain.from_iterable(map(_directions, super().records(path)))

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the request and the sentence."""
        source, target = (_LANGUAGES[language] for language in item["direction"].split("-"))
        return f"Translate this sentence from {source} into {target}. Write only the translation.\n{item['source']}"


def _directions(record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    for source, target in _DIRECTIONS:
        yield {
            "id": f"{record['id']}-{source}-{target}",
            "sentence": record["id"],
            "direction": f"{source}-{target}",
            "source": record[source],
            "target": record[target],
        }
