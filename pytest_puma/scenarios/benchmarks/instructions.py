"""Prompts without one right answer: IFEval and MT-Bench.

{"key": 1, "prompt": "Describe a lake without commas.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
{"question_id": 81, "category": "writing", "turns": ["Write ...", "Now ..."], "reference": [...]}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark


class IfEval(CompletionBenchmark):
    """IFEval (Zhou et al., 2023): prompts with instructions whose following a program can check.

    Both levels are scored, strictly and loosely.
    """

    name = "ifeval"
    key = "key"
    text_fields = ("prompt",)
    scores = ("ifeval.prompt", "ifeval.instruction", "ifeval.prompt.loose", "ifeval.instruction.loose")
    max_tokens = 1280
    instruction_pattern = "{prompt}"
    truth_column = ""
    # Instructions ask for paragraphs, so that no blank line ends a reply in plain text.
    stop = ("<|endoftext|>",)
    files = ("input_data.jsonl",)
    contents = "541 prompts, 0.2 MB"
    licence = "CC BY 4.0"
    hub = "google/IFEval:*.jsonl"
    original = "instruction_following_eval/data/input_data.jsonl of https://github.com/google-research/google-research"

    def context(self, instance: dict[str, Any]) -> dict[str, Any]:
        """Return the instructions and their arguments."""
        return {name: instance[name] for name in ("instruction_id_list", "kwargs")}

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with arguments for each instruction."""
        kinds, arguments = fields.texts(record, "instruction_id_list"), fields.value(record, list, "kwargs")
        if not kinds or len(kinds) != len(arguments):
            msg = (
                f"column 'kwargs': found {len(arguments)} entries for {len(kinds)} in 'instruction_id_list', "
                "expected one for each, and at least one"
            )
            raise DataError(msg)
        return {
            "key": fields.value(record, int, "key"),
            "prompt": fields.text(record, "prompt"),
            "instruction_id_list": kinds,
            "kwargs": arguments,
        }


class MtBench(CompletionBenchmark):
    """MT-Bench (Zheng et al., 2023): 80 open questions of eight categories, each with a second turn.

    The model's own reply stands between both turns, and metrics read the last one. A judge is to read the replies.
    Without one, `repetition` counts those that repeat a run of 16 words.
    """

    name = "mt_bench"
    key = "question_id"
    text_fields = ("question",)
    group_columns = ("category",)
    files = ("question.jsonl",)
    max_tokens = 1024
    scores = ("repetition",)
    instruction_pattern = "{question}"
    contents = "question.jsonl: 80 questions of two turns"
    licence = "Apache-2.0"
    original = "fastchat/llm_judge/data/mt_bench of https://github.com/lm-sys/FastChat"

    def examples(self) -> None:
        """None: there is no split of examples."""

    def turns(self, item: dict[str, Any]) -> tuple[str, ...]:
        """Return all turns."""
        return (str(item["question"]), *item["later_turns"])

    def truth(self, item: dict[str, Any]) -> str | None:
        """Return the reference of the last turn, where there is one."""
        return item["reference"][-1] if item["reference"] else None

    def context(self, item: dict[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002 - the same for each row
        """Return what `repetition` counts."""
        return {"repetition": {"window": 16}}

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record, with the first turn as a text."""
        first, *later = fields.texts(record, "turns", empty=False)
        return {
            "question_id": fields.value(record, int, "question_id"),
            "category": fields.text(record, "category"),
            "question": first,
            "later_turns": later,
            "reference": fields.texts(record, "reference") if record.get("reference") else [],
        }
