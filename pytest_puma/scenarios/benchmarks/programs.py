r"""Programs in Python: HumanEval and MBPP. Code is run with `--puma-run-code` alone.

A program is taken out of the code fences of a reply, and completed with the beginning that the prompt gives.
`defines_function` counts the programs that Python can parse and that define the function of the tests.

HumanEval.jsonl.gz     {"task_id": "HumanEval/0", "prompt": "def add(a, b):\n    '''Add ...'''\n", "entry_point": "add",
                        "canonical_solution": "    return a + b\n", "test": "def check(candidate): ..."}
mbpp.jsonl             {"task_id": 11, "text": ..., "code": ..., "test_list": ["assert f(1) == 2", ...]}
sanitized-mbpp.json    [{"task_id": 11, "prompt": ..., "code": ..., "test_list": [...], "test_imports": [...]}, ...]

The files that EvalPlus releases are read too: see `evalplus`.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

from pytest_puma.core import DataError, Metric, Prediction, Sample
from pytest_puma.datasets.frames import Frame
from pytest_puma.scenarios.benchmarks import evalplus, fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark

#: The tasks of MBPP.
_EXAMPLES, _EVALUATED = range(1, 11), range(11, 511)
#: The column of the rows of MBPP+.
_PLUS = "plus"
FENCE = re.compile(r"^[ \t]*```([\w+-]*)", re.MULTILINE)
#: A block between fences; the last one may lack its end.
BLOCK = re.compile(r"^[ \t]*```[\w+-]*[ \t]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_INDENT = "    "


def program(beginning: str, reply: str, function: str) -> str:
    """Return the program of a reply: the first way to read it that Python can parse, else the first way.

    The reply continues the beginning, up to a fence; or it is, or has in a block, the function or its body. The
    imports of the beginning stay.
    """
    ways = list(dict.fromkeys(_ways(beginning, reply, function))) or [reply]
    return next((way for way in ways if function in functions_of(way)), ways[0])


def functions_of(text: str) -> list[str]:
    """Return the functions that a program defines at its top level; none if it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an invalid escape in a string
            tree = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def defines_function(sample: Sample, prediction: Prediction) -> float:
    """Return 1 if the program is Python and defines `function` of the sample's context, else 0."""
    return float(sample.context["function"] in functions_of(prediction.text))


DEFINES_FUNCTION = Metric(name="defines_function", score=defines_function, kinds=frozenset({"completion"}))


def _ways(beginning: str, reply: str, function: str) -> Iterator[str]:
    """The programs that a reply may mean, the most probable first."""
    fence = FENCE.search(reply)
    # A fence with a language opens a block; a bare one behind code closes the block that the prompt opened.
    if fence is None or not fence[1]:
        yield from _completed(beginning, reply[: fence.start()] if fence else reply, function)
    # Any code is a body, also a call of the function in a block before it.
    blocks = sorted(BLOCK.findall(reply), key=lambda block: _definition(function).search(block) is None)
    for block in blocks:
        yield from _completed(beginning, block, function)


def _completed(beginning: str, code: str, function: str) -> Iterator[str]:
    """The code instead of the beginning if it defines the function, else behind it, indented as its body."""
    code = code.strip("\n").rstrip()
    if not code:
        return
    if _definition(function).search(code):
        head = _definition(function).split(beginning, maxsplit=1)[0].rstrip()
        yield f"{head}\n\n\n{code}\n" if head else f"{code}\n"
        return
    if not beginning:
        yield f"{code}\n"
        return
    # A reply is stripped, so that its first line lacks its spaces; in a block all lines may lack them.
    first, *rest = code.split("\n")
    yield "\n".join((beginning.rstrip(), _INDENT + first.lstrip(), *rest, ""))
    yield "\n".join((beginning.rstrip(), *(_INDENT + line if line.strip() else line for line in (first, *rest)), ""))


def _definition(function: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:async +)?def +{re.escape(function)}\b", re.MULTILINE)


class ProgramBenchmark(CompletionBenchmark):
    """The base of both: the whole program is what metrics read. `context` has the name of its `function`."""

    key = "task_id"
    delimiter = "\n"
    max_tokens = 512
    scores: ClassVar[tuple[str | Metric, ...]] = (DEFINES_FUNCTION, "bits_per_byte")

    def post_process(self, text: str, sample: Sample) -> str | None:
        """Return the program; None for an empty reply."""
        beginning, function = self.continued(dict(sample.fields)), sample.context["function"]
        return program(beginning, text, function) if text.strip() else None


class HumanEval(ProgramBenchmark):
    """HumanEval (Chen et al., 2021): the beginning of a function with its docstring, to be completed.

    In a chat the reply begins with the code of the prompt.
    """

    name = "humaneval"
    text_fields = ("prompt",)
    files = ("HumanEval.jsonl.gz", "HumanEval.jsonl", "openai_humaneval/test-*.parquet")
    stop = ("\nclass ", "\ndef ", "\n#", "\nif ", "\nprint(", "\n```")
    contents = "HumanEval.jsonl.gz, 44,877 bytes: 164 problems"
    licence = "MIT"
    hub = "openai/openai_humaneval"
    original = "data/ of https://github.com/openai/human-eval"
    checksum = "b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef"

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

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record."""
        names = ("task_id", "prompt", "entry_point", "canonical_solution", "test")
        return {name: fields.text(record, name) for name in names}


class Mbpp(ProgramBenchmark):
    """MBPP (Austin et al., 2021): short tasks for Python beginners, each with three tests, which name the function.

    The tasks 11 to 510 are evaluated, and 1 to 10 are the examples, as in the paper, if a file has all of them.
    """

    name = "mbpp"
    fewshot_split = "prompt"
    text_fields = ("task",)
    files = ("full/test-*.parquet", "sanitized/test-*.parquet")
    fewshot_files = ("full/prompt-*.parquet", "sanitized/prompt-*.parquet")
    stop = ("\n```",)
    strategies = ("few_shot_3",)
    cue_pattern = "```python"
    truth_column = "code"
    contents = "mbpp.jsonl, 563,537 characters: 974 tasks; or sanitized-mbpp.json, 255,053 characters: 427 tasks"
    licence = "CC BY 4.0"
    hub = "google-research-datasets/mbpp:full/*"
    original = "mbpp/ of https://github.com/google-research/google-research"

    @cached_property
    def rows(self) -> Frame:
        """The rows of the tasks to evaluate; all of a file that has none of these, and all of MBPP+."""
        return self._whole_file if _PLUS in self._whole_file else self._tasks(_EVALUATED, self._whole_file)

    def examples(self) -> Frame | None:
        """The rows of the examples; None for MBPP+: rows that are not evaluated."""
        pool = super().examples()
        return self._tasks(_EXAMPLES, self._whole_file) if pool is None and _PLUS not in self._whole_file else pool

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

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record of one of the files."""
        plus = {_PLUS: True} if evalplus.is_release(record) else {}
        record = evalplus.as_mbpp(record) if plus else record
        code = "\n".join(fields.text(record, "code").split("\r\n")).strip()
        tests = fields.texts(record, "test_list")
        return {
            "task_id": fields.value(record, int, "task_id"),
            "task": fields.text(record, "text", "prompt"),
            "code": code,
            "tests": tests,
            "setup": "\n".join(record.get("test_imports") or [record.get("test_setup_code") or ""]),
            "function": _tested(code, tests),
            **plus,
        }

    @staticmethod
    def _tasks(numbers: range, rows: Frame) -> Frame:
        chosen = rows[rows["task_id"].isin(numbers)]
        return chosen if len(chosen) else rows


def _tested(code: str, tests: list[str]) -> str:
    """The function of the code that the first test calls."""
    called = [name for name in functions_of(code) if tests and re.search(rf"{name}\s*\(", tests[0])]
    if not called:
        defined = ", ".join(functions_of(code)) or "no function"
        msg = f"column 'code': defines {defined}, expected the function that the test {tests[:1]} calls"
        raise DataError(msg)
    return max(called, key=len)
