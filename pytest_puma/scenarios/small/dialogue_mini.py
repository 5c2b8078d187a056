"""Dialogues of two turns: the second question needs the first turn, or the reply to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_puma.scenarios.completion import CompletionScenario


class DialogueMiniScenario(CompletionScenario):
    """The reply to the second question. The open dialogues of the file, which no program can score, are left out."""

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

    def records(self, path: Path) -> Iterable[Mapping[str, Any]]:
        """Return the dialogues with an answer."""
        return [record for record in super().records(path) if record.get("answer")]

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the first message."""
        return str(item["first"])

    def turns(self, item: dict[str, Any]) -> tuple[str, str]:
        """Return both messages."""
        return item["first"], f"{item['second']} Answer in a few words."

    def truth(self, item: dict[str, Any]) -> list[str]:
        """Return the accepted answers."""
        return list(item["answer"])
