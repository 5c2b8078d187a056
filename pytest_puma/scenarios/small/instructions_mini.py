"""Instructions that a program can check: the 25 kinds of IFEval on prompts of our own."""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.completion import CompletionScenario


class InstructionsMiniScenario(CompletionScenario):
    """A prompt with one to three instructions; there is no ground truth."""

    name = "instructions_mini"
    data = "instructions_mini.jsonl"
    key = "id"
    required = {"prompt": str, "instruction_id_list": list, "kwargs": list}  # noqa: RUF012 - a declaration, read only
    text_fields = ("prompt",)
    scores = ("ifeval.prompt", "ifeval.instruction", "ifeval.prompt.loose", "ifeval.instruction.loose")
    strategies = ("zero_shot",)
    max_tokens = 256

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the prompt."""
        return str(item["prompt"])

    def truth(self, item: dict[str, Any]) -> None:  # noqa: ARG002 - there is none
        """Return None."""
        return

    def context(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return the instructions and their arguments."""
        return {"instruction_id_list": item["instruction_id_list"], "kwargs": item["kwargs"]}
