"""The three most frequent words of a list, in five languages."""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.small.search import SearchScenario


class CommonWordsScenario(SearchScenario):
    """Three words that occur more often than all others. The order does not matter; every other word costs precision.

    `cwe` would not do: a reply that repeats the list has all words.
    """

    name = "common_words"
    data = {"test": "common_words.jsonl", "train": "common_words_dev.jsonl"}  # noqa: RUF012 - a declaration, read only
    group_columns = ("language", "words")
    scores = ("f1_squad",)

    def truth(self, item: dict[str, Any]) -> str:
        """Return the words."""
        return ", ".join(item["answer"])
