r"""Programs in Python: HumanEval and MBPP. No code is run.

HumanEval.jsonl.gz     {"task_id": "HumanEval/0", "prompt": "def add(a, b):\n    '''Add ...'''\n", "entry_point": "add",
                        "canonical_solution": "    return a + b\n", "test": "def check(candidate): ..."}
mbpp.jsonl             {"task_id": 11, "text": ..., "code": ..., "test_list": ["assert f(1) == 2", ...]}
sanitized-mbpp.json    [{"task_id": 11, "prompt": ..., "code": ..., "test_list": [...], "test_imports": [...]}, ...]
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_puma.core import DataError, Sample
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark, to_obtain
from pytest_puma.scenarios.benchmarks.code import DEFINES_FUNCTION, functions_of, program

if TYPE_CHECKING:
    import pandas as pd

_EXAMPLES, _EVALUATED = range(1, 11), range(11, 511)


class HumanEval(CompletionBenchmark):
    """HumanEval (Chen et al., 2021): the beginning of a function with its docstring, to be completed.

    The whole program is what metrics read. In a chat the reply begins with the code of the prompt.
    """

    name = "humaneval"
    key = "task_id"
    text_fields = ("prompt",)
    files = ("HumanEval.jsonl.gz", "HumanEval.jsonl", "openai_humaneval/test-*.parquet")
    delimiter = "\n"
    stop = ("\nclass ", "\ndef ", "\n#", "\nif ", "\nprint(", "\n```")
    max_tokens = 512
    strategies = ("zero_shot",)
    scores = (DEFINES_FUNCTION, "bits_per_byte")
    obtain = to_obtain(
        "HumanEval.jsonl.gz, 44,877 bytes: 164 problems",
        licence="MIT",
        hub="openai/openai_humaneval",
        original="data/ of https://github.com/openai/human-eval",
        checksum="b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef",
    )

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the task for a chat; a code block that ends after the docstring would be copied with its end."""
        return f"Complete this Python function. Write code only.\n\n{item['prompt'].rstrip()}"

    def continued(self, item: dict[str, Any]) -> str:
        """Return the beginning of the function, which is the whole prompt in plain text."""
        return str(item["prompt"])

    def cue(self, item: dict[str, Any]) -> str:
        """Return the beginning of the function in a code block."""
        return f"```python\n{item['prompt'].rstrip()}"

    def truth(self, item: dict[str, Any]) -> str:
        """Return the published solution, without the beginning."""
        return str(item["canonical_solution"]).rstrip()

    def context(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """Return the name of the function, and its tests."""
        return {"function": item["entry_point"], "test": item["test"]}

    def post_process(self, text: str, sample: Sample) -> str | None:
        """Return the program; None for an empty reply."""
        return program(sample.fields["prompt"], text, sample.fields["entry_point"]) if text.strip() else None

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record."""
        names = ("task_id", "prompt", "entry_point", "canonical_solution", "test")
        return {name: fields.text(record, name) for name in names}


class Mbpp(CompletionBenchmark):
    """MBPP (Austin et al., 2021): short tasks for Python beginners, each with three tests, which name the function.

    The tasks 11 to 510 are evaluated, and 1 to 10 are the examples, as in the paper, if a file has all of them.
    """

    name = "mbpp"
    key = "task_id"
    fewshot_split = "prompt"
    text_fields = ("task",)
    files = ("full/test-*.parquet", "sanitized/test-*.parquet")
    fewshot_files = ("full/prompt-*.parquet", "sanitized/prompt-*.parquet")
    delimiter = "\n"
    stop = ("\n```",)
    max_tokens = 512
    strategies = ("few_shot_3",)
    scores = (DEFINES_FUNCTION, "bits_per_byte")
    cue_pattern = "```python"
    truth_column = "code"
    obtain = to_obtain(
        "mbpp.jsonl, 563,537 characters: 974 tasks; or sanitized-mbpp.json, 255,053 characters: 427 tasks",
        licence="CC BY 4.0",
        hub="google-research-datasets/mbpp:full/*",
        original="mbpp/ of https://github.com/google-research/google-research",
    )

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of the tasks to evaluate; all of a file that has none of these."""
        return self._tasks(_EVALUATED, self._whole_file)

    def examples(self) -> pd.DataFrame | None:
        """The rows of the examples."""
        pool = super().examples()
        return self._tasks(_EXAMPLES, self._whole_file) if pool is None else pool

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the task and its tests."""
        tests = "\n".join(item["tests"])
        return f"Write a Python function. {item['task']}\nThese tests must pass:\n\n{tests}"

    def target(self, item: dict[str, Any]) -> str:
        """Return the program in a code block."""
        return f"{super().target(item)}\n```"

    def context(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """Return the name of the function, and its tests."""
        return {"function": item["function"], "tests": item["tests"], "setup": item["setup"]}

    def post_process(self, text: str, sample: Sample) -> str | None:
        """Return the program; None for an empty reply."""
        return program("", text, sample.fields["function"]) if text.strip() else None

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record of either file."""
        code = "\n".join(fields.text(record, "code").split("\r\n")).strip()
        tests = fields.texts(record, "test_list")
        return {
            "task_id": fields.value(record, int, "task_id"),
            "task": fields.text(record, "text", "prompt"),
            "code": code,
            "tests": tests,
            "setup": "\n".join(record.get("test_imports") or [record.get("test_setup_code") or ""]),
            "function": _tested(code, tests),
        }

    @staticmethod
    def _tasks(numbers: range, rows: pd.DataFrame) -> pd.DataFrame:
        chosen = rows[rows["task_id"].isin(numbers)]
        return chosen if len(chosen) else rows


def _tested(code: str, tests: list[str]) -> str:
    """The function of the code that the first test calls."""
    called = [name for name in functions_of(code) if tests and f"{name}(" in tests[0]]
    if not called:
        defined = ", ".join(functions_of(code)) or "no function"
        msg = f"column 'code': defines {defined}, expected the function that the test {tests[:1]} calls"
        raise DataError(msg)
    return max(called, key=len)
