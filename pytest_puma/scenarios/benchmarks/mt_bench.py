"""MT-Bench (Zheng et al., 2023): 80 open questions of eight categories, each with a second turn.

{"question_id": 81, "category": "writing", "turns": ["Write ...", "Now ..."], "reference": [...]}

A judge is to read the replies. Without one, `repetition` counts those that repeat a run of 16 words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.completions import CompletionBenchmark


class MtBench(CompletionBenchmark):
    """Both turns, with the model's own reply between them. Metrics read the last reply."""

    name = "mt_bench"
    key = "question_id"
    text_fields = ("question",)
    group_columns = ("category",)
    files = ("question.jsonl",)
    max_tokens = 1024
    strategies = ("zero_shot",)
    scores = ("repetition",)
    obtain = to_obtain(
        "question.jsonl: 80 questions of two turns",
        licence="Apache-2.0",
        original="fastchat/llm_judge/data/mt_bench of https://github.com/lm-sys/FastChat",
    )

    def examples(self) -> None:
        """None: there is no split of examples."""

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the first turn."""
        return str(item["question"])

    def turns(self, item: dict[str, Any]) -> tuple[str, ...]:
        """Return all turns."""
        return (str(item["question"]), *item["later_turns"])

    def truth(self, item: dict[str, Any]) -> str | None:
        """Return the reference of the last turn, where there is one."""
        return item["reference"][-1] if item["reference"] else None

    def context(self, item: dict[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002 - the same for each row
        """Return what `repetition` counts."""
        return {"repetition": {"window": 16}}

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record, with the first turn as a text."""
        first, *later = fields.texts(record, "turns", empty=False)
        return {
            "question_id": fields.value(record, int, "question_id"),
            "category": fields.text(record, "category"),
            "question": first,
            "later_turns": later,
            "reference": fields.texts(record, "reference") if record.get("reference") else [],
        }
