"""Numbers of a person in a text with those of others, in five languages."""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.small.search import SearchScenario


class NeedleScenario(SearchScenario):
    """All secret numbers of one person, or a word for none; texts have 50 to 400 words."""

    name = "needle"
    data = {"test": "needle.jsonl", "train": "needle_dev.jsonl"}  # noqa: RUF012 - a declaration, read only
    group_columns = ("language", "kind", "words")
    scores = ("needle",)

    def truth(self, item: dict[str, Any]) -> list[str]:
        """Return the numbers, or the word for none."""
        return list(item["answer"])
