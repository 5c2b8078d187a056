"""Short reports, each to be summarised in one sentence."""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.completion import CompletionScenario


class SummariesMiniScenario(CompletionScenario):
    """A report of about 105 words and one reference summary."""

    name = "summaries_mini"
    data = "summaries_mini.jsonl"
    key = "id"
    required = {"text": str, "summary": str}  # noqa: RUF012 - a declaration, read only
    text_fields = ("text",)
    scores = ("rouge_l", "rouge_1", "rouge_2")
    strategies = ("zero_shot",)
    max_tokens = 80

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the report and the request."""
        return f"{item['text']}\n\nSummarise this report in one sentence of at most 25 words."

    def truth(self, item: dict[str, Any]) -> str:
        """Return the summary."""
        return str(item["summary"])
