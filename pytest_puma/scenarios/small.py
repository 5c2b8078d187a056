"""The scenarios of the small data sets in `data/*.jsonl`: one or more of each kind of task. See `multilingual`, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_puma.scenarios import multilingual
from pytest_puma.scenarios.choice import ListedChoiceScenario
from pytest_puma.scenarios.completion import WordedScenario
from pytest_puma.scenarios.composed import ComposedScenario

__all__ = ["SMALL_SETS"]


class SmallScenario(WordedScenario):
    """The base of those with free text as answers."""

    key = "id"


class ArithmeticWordScenario(SmallScenario):
    """Word problems of one to three steps with whole numbers; examples show the steps, and `#### ` with the number."""

    name = "arithmetic_word"
    data = {"test": "arithmetic_word.jsonl", "train": "arithmetic_word_dev.jsonl"}  # noqa: RUF012 - a declaration
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


class FormatsScenario(SmallScenario):
    """Facts to be written as JSON or CSV, and texts of a requested length; each metric applies to one kind."""

    name = "formats"
    data = "formats.jsonl"
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


class InstructionsMiniScenario(SmallScenario):
    """Prompts with one to three instructions that a program can check: the 25 kinds of IFEval, without a truth."""

    name = "instructions_mini"
    data = "instructions_mini.jsonl"
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


class SummariesMiniScenario(SmallScenario):
    """A report of about 105 words and one reference summary."""

    name = "summaries_mini"
    data = "summaries_mini.jsonl"
    required = {"text": str, "summary": str}  # noqa: RUF012 - a declaration, read only
    text_fields = ("text",)
    scores = ("rouge_l", "rouge_1", "rouge_2")
    strategies = ("zero_shot",)
    max_tokens = 80
    instruction_pattern = "{text}\n\nSummarise this report in one sentence of at most 25 words."
    truth_column = "summary"


class DialogueMiniScenario(SmallScenario):
    """The reply to the second question, which needs the first turn, or the reply to it.

    The open dialogues of the file, which no program can score, are left out.
    """

    name = "dialogue_mini"
    data = "dialogue_mini.jsonl"
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


class CommonsenseMiniScenario(ListedChoiceScenario):
    """Places, tools and reasons of everyday life; one of five choices is right."""

    name = "commonsense_mini"
    data = {"test": "commonsense_mini.jsonl", "train": "commonsense_mini_dev.jsonl"}  # noqa: RUF012 - a declaration
    key = "id"
    required = {"question": str, "choices": list, "answer": str}  # noqa: RUF012
    scores = ("accuracy_chars",)


class KnowledgeMiniScenario(CommonsenseMiniScenario):
    """School knowledge of six subjects with four choices; examples are of the same subject."""

    name = "knowledge_mini"
    data = {"test": "knowledge_mini.jsonl", "train": "knowledge_mini_dev.jsonl"}  # noqa: RUF012 - a declaration
    group_columns = ("subject",)


_CLASSES: tuple[type[ComposedScenario], ...] = (
    multilingual.CapitalsScenario,
    ArithmeticWordScenario,
    CommonsenseMiniScenario,
    KnowledgeMiniScenario,
    FormatsScenario,
    InstructionsMiniScenario,
    multilingual.NeedleScenario,
    multilingual.CommonWordsScenario,
    multilingual.TranslateMiniScenario,
    SummariesMiniScenario,
    DialogueMiniScenario,
)

#: By name, in the order of the data's README.
SMALL_SETS: dict[str, type[ComposedScenario]] = {scenario.name: scenario for scenario in _CLASSES}
