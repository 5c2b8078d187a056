r"""GSM8K (Cobbe et al., 2021): word problems; the answer of a solution stands behind `####`.

{"question": "A shop has 3 boxes of 4 pears. How many?", "answer": "There are 3*4=<<3*4=12>>12 pears.\n#### 12"}
"""

from __future__ import annotations

from typing import Any

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.completions import CompletionBenchmark

_MARK = "####"


class Gsm8k(CompletionBenchmark):
    """Solutions whose last or marked number is compared; examples show whole solutions."""

    name = "gsm8k"
    text_fields = ("question",)
    stop = ("\nQuestion:",)
    max_tokens = 512
    strategies = ("few_shot_5",)
    scores = ("number_match",)
    obtain = to_obtain(
        "test.jsonl, 749,738 bytes: 1,319 problems; and train.jsonl, 4,166,206 bytes",
        licence="MIT",
        hub="openai/gsm8k:main/*",
        original="grade_school_math/data of https://github.com/openai/grade-school-math",
    )
    files = ("test.jsonl", "main/test-*.parquet")
    fewshot_files = ("train.jsonl", "main/train-*.parquet")

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the problem."""
        return f"Question: {item['question']}"

    def cue(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - the same for each row
        """Return the beginning of a solution."""
        return "Answer:"

    def truth(self, item: dict[str, Any]) -> str:
        """Return the number."""
        return str(item["number"])

    def target(self, item: dict[str, Any]) -> str:
        """Return the solution, with its number behind the mark."""
        return f"{self.cue(item)} {item['answer']}"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its number."""
        answer = fields.text(record, "answer")
        _, mark, number = answer.rpartition(_MARK)
        if not mark or not number.strip():
            msg = f"column 'answer': found {answer[-40:]!r} at its end, expected a solution that ends with {_MARK} 12"
            raise DataError(msg)
        number = number.strip().replace(",", "")
        return {"question": fields.text(record, "question"), "answer": answer, "number": number}
