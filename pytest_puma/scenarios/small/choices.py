"""Small data sets with choices: a class each."""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.choice import ChoiceScenario


class CommonsenseMiniScenario(ChoiceScenario):
    """Places, tools and reasons of everyday life; one of five choices is right."""

    name = "commonsense_mini"
    data = {"test": "commonsense_mini.jsonl", "train": "commonsense_mini_dev.jsonl"}  # noqa: RUF012 - a declaration
    key = "id"
    required = {"question": str, "choices": list, "answer": str}  # noqa: RUF012
    text_fields = ("question",)
    scores = ("accuracy_chars",)

    def question(self, item: dict[str, Any]) -> str:
        """Return the question."""
        return str(item["question"])

    def choices(self, item: dict[str, Any]) -> list[str]:
        """Return the texts of the choices."""
        return list(item["choices"])

    def answer(self, item: dict[str, Any]) -> str:
        """Return the text of the right choice."""
        return str(item["answer"])


class KnowledgeMiniScenario(CommonsenseMiniScenario):
    """School knowledge of six subjects with four choices; examples are of the same subject."""

    name = "knowledge_mini"
    data = {"test": "knowledge_mini.jsonl", "train": "knowledge_mini_dev.jsonl"}  # noqa: RUF012 - a declaration
    group_columns = ("subject",)
