"""IFEval (Zhou et al., 2023): prompts with instructions whose following a program can check.

{"key": 1, "prompt": "Describe a lake without commas.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
"""

from __future__ import annotations

from typing import Any

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import Benchmark, to_obtain
from pytest_puma.scenarios.completion import CompletionScenario


class IfEval(Benchmark, CompletionScenario):
    """Replies without a ground truth. Both levels are scored, strictly and loosely."""

    name = "ifeval"
    key = "key"
    text_fields = ("prompt",)
    strategies = ("zero_shot",)
    scores = ("ifeval.prompt", "ifeval.instruction", "ifeval.prompt.loose", "ifeval.instruction.loose")
    max_tokens = 1280
    # Instructions ask for paragraphs, so that no blank line ends a reply in plain text.
    stop = ("<|endoftext|>",)
    files = ("input_data.jsonl",)
    obtain = to_obtain(
        "541 prompts, 0.2 MB",
        licence="CC BY 4.0",
        hub="google/IFEval:*.jsonl",
        original="instruction_following_eval/data/input_data.jsonl of https://github.com/google-research/google-research",
    )

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the prompt."""
        return str(item["prompt"])

    def truth(self, item: dict[str, Any]) -> None:
        """There is none."""

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
