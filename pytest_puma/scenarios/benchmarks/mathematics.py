r"""Mathematics: GSM8K and MATH-500.

{"question": "A shop has 3 boxes of 4 pears. How many?", "answer": "There are 3*4=<<3*4=12>>12 pears.\n#### 12"}
{"problem": ..., "solution": "... \\boxed{12}.", "answer": "12", "subject": "Algebra", "level": 2, "unique_id": ...}
"""

from __future__ import annotations

from typing import Any

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark, to_obtain

_MARK = "####"


class Gsm8k(CompletionBenchmark):
    """GSM8K (Cobbe et al., 2021): word problems; the answer of a solution stands behind `####`.

    The last or marked number is compared; examples show whole solutions.
    """

    name = "gsm8k"
    text_fields = ("question",)
    stop = ("\nQuestion:",)
    max_tokens = 512
    strategies = ("few_shot_5",)
    scores = ("number_match",)
    instruction_pattern = "Question: {question}"
    cue_pattern = "Answer:"
    truth_column = "number"
    target_pattern = "{answer}"
    obtain = to_obtain(
        "test.jsonl, 749,738 bytes: 1,319 problems; and train.jsonl, 4,166,206 bytes",
        licence="MIT",
        hub="openai/gsm8k:main/*",
        original="grade_school_math/data of https://github.com/openai/grade-school-math",
    )
    files = ("test.jsonl", "main/test-*.parquet")
    fewshot_files = ("train.jsonl", "main/train-*.parquet")

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its number."""
        answer = fields.text(record, "answer")
        _, mark, number = answer.rpartition(_MARK)
        if not mark or not number.strip():
            msg = f"column 'answer': found {answer[-40:]!r} at its end, expected a solution that ends with {_MARK} 12"
            raise DataError(msg)
        number = number.strip().replace(",", "")
        return {"question": fields.text(record, "question"), "answer": answer, "number": number}


class Math500(CompletionBenchmark):
    """MATH-500 (Lightman et al., 2023): 500 problems of MATH (Hendrycks et al., 2021) in LaTeX, in seven subjects.

    The boxed or last expression of a solution is compared as mathematics.
    """

    name = "math500"
    key = "unique_id"
    text_fields = ("problem",)
    group_columns = ("subject", "level")
    stop = ("\nProblem:",)
    max_tokens = 1024
    strategies = ("zero_shot",)
    scores = ("math_match",)
    preamble_pattern = r"Solve the problem. Put the final answer into \boxed{{}}."
    instruction_pattern = "Problem:\n{problem}"
    cue_pattern = "Solution:"
    target_pattern = "{solution}"
    obtain = to_obtain(
        "test.jsonl, 446,564 bytes: 500 problems",
        licence="MIT",
        hub="HuggingFaceH4/MATH-500",
        original="prm800k/math_splits/test.jsonl of https://github.com/openai/prm800k",
    )

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its level as a group."""
        texts = {name: fields.text(record, name) for name in ("unique_id", "problem", "solution", "answer", "subject")}
        return texts | {"level": str(fields.value(record, object, "level"))}
