"""The three most frequent words of a list, in five languages."""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.completion import CompletionScenario


class CommonWordsScenario(CompletionScenario):
    """Three words that occur more often than all others. The order does not matter; every other word costs precision.

    `cwe` would not do: a reply that repeats the list has all words.
    """

    name = "common_words"
    data = "common_words.jsonl"
    key = "id"
    group_columns = ("language", "words")
    required = {"text": str, "question": str, "answer": list, "language": str}  # noqa: RUF012 - a declaration
    text_fields = ("text",)
    scores = ("f1_squad",)
    strategies = ("zero_shot",)
    stop = ("\n",)
    max_tokens = 32

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the list and the question."""
        return f"{item['text']}\n\n{item['question']}"

    def truth(self, item: dict[str, Any]) -> str:
        """Return the words."""
        return ", ".join(item["answer"])
