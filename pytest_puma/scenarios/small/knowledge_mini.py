"""School knowledge of six subjects with four choices."""

from __future__ import annotations

from pytest_puma.scenarios.small.commonsense_mini import CommonsenseMiniScenario


class KnowledgeMiniScenario(CommonsenseMiniScenario):
    """Astronomy, biology, computing, geography, history and physics; examples are of the same subject."""

    name = "knowledge_mini"
    data = {"test": "knowledge_mini.jsonl", "train": "knowledge_mini_dev.jsonl"}  # noqa: RUF012 - a declaration
    group_columns = ("subject",)
