r"""HumanEval (Chen et al., 2021): the beginning of a function with its docstring, to be completed. No code is run.

{"task_id": "HumanEval/0", "prompt": "def add(a, b):\n    '''Add ...'''\n", "entry_point": "add",
 "canonical_solution": "    return a + b\n", "test": "def check(candidate): ..."}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_puma.core import Sample
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.code import DEFINES_FUNCTION, program
from pytest_puma.scenarios.benchmarks.completions import CompletionBenchmark


class HumanEval(CompletionBenchmark):
    """The whole program is what metrics read. In a chat the reply begins with the code of the prompt."""

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
