r"""Short answers that need several steps: GSM8K, MATH-500 and BIG-Bench-Hard.

{"question": "A shop has 3 boxes of 4 pears. How many?", "answer": "There are 3*4=<<3*4=12>>12 pears.\n#### 12"}
{"problem": ..., "solution": "... \\boxed{12}.", "answer": "12", "subject": "Algebra", "level": 2, "unique_id": ...}
snarks.json    {"canary": ..., "examples": [{"input": "...\nOptions:\n(A) ...\n(B) ...", "target": "(A)"}, ...]}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError, Sample
from pytest_puma.replies.letters import names_another
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark, TaskFiles, nested_records

_MARK = "####"
_OPTION = re.compile(r"\(?([A-Z])\)?(?:[.:)\s].*)?", re.DOTALL)
_ANSWER = re.compile(r".*\banswer(?: is|:)\s*:?\s*(.+)", re.IGNORECASE | re.DOTALL)
_MARKS = " \t\r\n*_`\"'"


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
    contents = "test.jsonl, 749,738 bytes: 1,319 problems; and train.jsonl, 4,166,206 bytes"
    licence = "MIT"
    hub = "openai/gsm8k:main/*"
    original = "grade_school_math/data of https://github.com/openai/grade-school-math"
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
    scores = ("math_match",)
    preamble_pattern = r"Solve the problem. Put the final answer into \boxed{{}}."
    instruction_pattern = "Problem:\n{problem}"
    cue_pattern = "Solution:"
    target_pattern = "{solution}"
    contents = "test.jsonl, 446,564 bytes: 500 problems"
    licence = "MIT"
    hub = "HuggingFaceH4/MATH-500"
    original = "prm800k/math_splits/test.jsonl of https://github.com/openai/prm800k"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its level as a group."""
        texts = {name: fields.text(record, name) for name in ("unique_id", "problem", "solution", "answer", "subject")}
        return texts | {"level": str(fields.value(record, object, "level"))}


class BigBenchHard(TaskFiles):
    """BIG-Bench-Hard (Suzgun et al., 2022): 27 tasks on which earlier models were worse than people.

    Short answers are compared exactly: an option as `(A)`, a word, a number or a list. The examples are other questions
    of the task, without the chains of thought that the authors publish beside the data.
    """

    name = "bbh"
    pattern, form, expected = "*.json", "JSON", "one for each task, as snarks.json"
    stop = ("\nQ:",)
    strategies = ("few_shot_3",)
    instruction_pattern = "Q: {input}"
    cue_pattern = "A:"
    truth_column = "target"
    contents = "the folder of 27 JSON files with 6,511 questions, or one of them"
    licence = "MIT"
    original = "bbh/ of https://github.com/suzgunmirac/BIG-Bench-Hard"

    def post_process(self, text: str, sample: Sample) -> str | None:
        """Return what follows the last `answer is`, else the first line; of options, a single one as `(A)`."""
        stated = _ANSWER.fullmatch(text)
        answer = (stated[1] if stated else text).strip(_MARKS).partition("\n")[0].strip(_MARKS).removesuffix(".")
        option = _OPTION.fullmatch(answer) if "Options:" in sample.fields["input"] else None
        alone = option and not names_another(answer, option.end(1))
        return (f"({option[1]})" if option and alone else answer.strip(_MARKS)) or None

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record."""
        return {name: fields.text(record, name).strip() for name in ("task", "input", "target")}

    def published(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read the examples of each file; its name is the task."""
        if path.is_file() and path.suffix != ".json":
            yield from super().published(path)
            return
        expected = '{"examples": [{"input": ..., "target": ...}]}'
        for file in self.parts(path):
            task = {"task": file.stem.removeprefix("bbh_")}
            records = nested_records(file, _examples, row="example", system="BIG-Bench-Hard", expected=expected)
            yield from ((f"{file.name}, {row}", task | record) for row, record in records)


def _examples(content: Any) -> list[dict[str, Any]]:
    return [dict(example) for example in content["examples"]]
