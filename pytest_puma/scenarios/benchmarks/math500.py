r"""MATH-500 (Lightman et al., 2023): 500 problems of MATH (Hendrycks et al., 2021) in LaTeX, in seven subjects.

{"problem": ..., "solution": "... \\boxed{12}.", "answer": "12", "subject": "Algebra", "level": 2, "unique_id": ...}
"""

from __future__ import annotations

from typing import Any

from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.completions import CompletionBenchmark


class Math500(CompletionBenchmark):
    """Solutions whose boxed or last expression is compared as mathematics."""

    name = "math500"
    key = "unique_id"
    text_fields = ("problem",)
    group_columns = ("subject", "level")
    stop = ("\nProblem:",)
    max_tokens = 1024
    strategies = ("zero_shot",)
    scores = ("math_match",)
    obtain = to_obtain(
        "test.jsonl, 446,564 bytes: 500 problems",
        licence="MIT",
        hub="HuggingFaceH4/MATH-500",
        original="prm800k/math_splits/test.jsonl of https://github.com/openai/prm800k",
    )

    def preamble(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - the same for each row
        """Ask for the form of the answer."""
        return r"Solve the problem. Put the final answer into \boxed{}."

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the problem."""
        return f"Problem:\n{item['problem']}"

    def cue(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - the same for each row
        """Return the beginning of a solution."""
        return "Solution:"

    def truth(self, item: dict[str, Any]) -> str:
        """Return the answer."""
        return str(item["answer"])

    def target(self, item: dict[str, Any]) -> str:
        """Return the solution."""
        return f"{self.cue(item)} {item['solution']}"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its level as a group."""
        texts = {name: fields.text(record, name) for name in ("unique_id", "problem", "solution", "answer", "subject")}
        return texts | {"level": str(fields.value(record, object, "level"))}
