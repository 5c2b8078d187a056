"""Numbers of a person in a text with those of others, in five languages."""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.completion import CompletionScenario


class NeedleScenario(CompletionScenario):
    """All secret numbers of one person, or a word for none; texts have 50 to 400 words."""

    name = "needle"
    data = "needle.jsonl"
    key = "id"
    group_columns = ("language", "kind", "words")
    required = {"text": str, "question": str, "answer": list, "language": str}  # noqa: RUF012 - a declaration
    text_fields = ("text",)
    scores = ("needle",)
    strategies = ("zero_shot",)
    stop = ("\n",)
    max_tokens = 32

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the text and the question."""
        return f"{item['text']}\n\n{item['question']}"

    def truth(self, item: dict[str, Any]) -> list[str]:
        """Return the numbers, or the word for none."""
        return list(item["answer"])
