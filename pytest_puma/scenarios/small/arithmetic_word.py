"""Word problems of one to three steps with whole numbers."""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.completion import CompletionScenario

_MARK = "#### "


class ArithmeticWordScenario(CompletionScenario):
    """A word problem; examples show the steps, and the last line of their answer is `#### ` and the number."""

    name = "arithmetic_word"
    data = {"test": "arithmetic_word.jsonl", "train": "arithmetic_word_dev.jsonl"}  # noqa: RUF012 - a declaration
    key = "id"
    required = {"question": str, "answer": str}  # noqa: RUF012
    text_fields = ("question",)
    scores = ("number_match",)
    max_tokens = 128

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the problem and the form of the answer."""
        return f"{item['question']}\nWrite the calculation, and then the answer as a number on a last line after ####."

    def truth(self, item: dict[str, Any]) -> str:
        """Return the number."""
        return str(item["answer"]).rpartition(_MARK)[2]

    def target(self, item: dict[str, Any]) -> str:
        """Return the steps and the number."""
        return str(item["answer"])
