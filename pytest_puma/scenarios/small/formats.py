"""Replies in a requested form: JSON of a schema, a CSV table, a text of some length."""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.completion import CompletionScenario


class FormatsScenario(CompletionScenario):
    """Facts to be written as JSON or CSV, and texts of a requested length; each metric applies to one kind."""

    name = "formats"
    data = "formats.jsonl"
    key = "id"
    group_columns = ("kind",)
    required = {"prompt": str, "kind": str}  # noqa: RUF012 - a declaration, read only
    text_fields = ("prompt",)
    scores = ("json.schema", "json.equal", "csv.columns", "csv.separator", "length.fulfilled")
    strategies = ("zero_shot",)
    max_tokens = 160

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the request."""
        return str(item["prompt"])

    def truth(self, item: dict[str, Any]) -> str | None:
        """Return the expected JSON or table; a text of some length has none."""
        return item.get("expected")

    def context(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the metrics; None for those of other kinds."""
        kind = item["kind"]
        length = {"unit": item["unit"], "count": item["count"], "type": item["bound"]} if kind == "length" else None
        return {
            "json_schema": item["schema"] if kind == "json" else None,
            "csv": {"columns": item["columns"], "separator": item["separator"]} if kind == "csv" else None,
            "length": length,
        }
