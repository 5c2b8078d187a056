"""Small data sets with choices: a class each."""

from __future__ import annotations

from pytest_puma.scenarios.worded import ListedChoiceScenario


class CommonsenseMiniScenario(ListedChoiceScenario):
    """Places, tools and reasons of everyday life; one of five choices is right."""

    name = "commonsense_mini"
    data = {"test": "commonsense_mini.jsonl", "train": "commonsense_mini_dev.jsonl"}  # noqa: RUF012 - a declaration
    key = "id"
    required = {"question": str, "choices": list, "answer": str}  # noqa: RUF012
    scores = ("accuracy_chars",)


class KnowledgeMiniScenario(CommonsenseMiniScenario):
    """School knowledge of six subjects with four choices; examples are of the same subject."""

    name = "knowledge_mini"
    data = {"test": "knowledge_mini.jsonl", "train": "knowledge_mini_dev.jsonl"}  # noqa: RUF012 - a declaration
    group_columns = ("subject",)
