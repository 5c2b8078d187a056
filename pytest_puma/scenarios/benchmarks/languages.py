r"""MultiPL-E: the problems of HumanEval and MBPP in other languages than Python. `--puma-run-code` runs the programs.

humaneval-js/test-*.parquet, or humaneval-js-reworded.json, as MultiPL-E publishes them, one file for each language:

    {"name": "HumanEval_23_strlen", "language": "js", "prompt": "//Return ...\nfunction strlen(string){\n",
     "tests": "const assert = ...\ntest();", "stop_tokens": ["\nfunction ", ...], ...}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_puma.core import DataError, Sample
from pytest_puma.core.programming_language import LANGUAGES
from pytest_puma.datasets.frames import unusable
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark
from pytest_puma.scenarios.benchmarks.programs import BLOCK, FENCE


def body(beginning: str, reply: str, stops: tuple[str, ...]) -> str:
    """Return the lines with which a reply continues the beginning of a function, up to a stop: tests close the rest.

    The reply continues the beginning, up to a fence; or has the function in a block.
    """
    fence, blocks = FENCE.search(reply), BLOCK.findall(reply)
    closes = fence is not None and not fence[1] and reply[: fence.start()].strip()
    code = reply[: fence.start()] if fence is not None and closes else blocks[0] if blocks else reply
    _, found, rest = code.partition(beginning.rstrip().rpartition("\n")[2].strip())
    code = (rest if found else code).strip("\n")
    return code[: min((code.find(stop) for stop in stops if stop in code), default=len(code))]


class MultiPlE(CompletionBenchmark):
    """MultiPL-E (Cassano et al., 2023): the beginning of a function in another language, to be completed.

    In a chat the reply begins with the code of the prompt.
    """

    name = "multipl_e"
    key = "name"
    text_fields = ("prompt",)
    delimiter = "\n"
    max_tokens = 512
    scores = ("tests_passed", "timeout_rate")
    stop = ("\n```",)
    files = ("test-*.parquet",)
    contents = "a file of MultiPL-E: humaneval-js has 161 problems"
    licence = "BSD 3-Clause; not as training data"
    hub = "nuprl/MultiPL-E:humaneval-js/*"
    original = "prompts/ of https://github.com/nuprl/MultiPL-E"

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the task for a chat."""
        title = LANGUAGES[item["language"]].title
        return f"Complete this function in {title}. Write code only.\n\n{item['prompt'].rstrip()}"

    def continued(self, item: dict[str, Any]) -> str:
        """Return the beginning of the function, which is the whole prompt in plain text."""
        return str(item["prompt"])

    def cue(self, item: dict[str, Any]) -> str:
        """Return the beginning of the function in a code block."""
        return f"```{item['language']}\n{item['prompt'].rstrip()}"

    def truth(self, item: dict[str, Any]) -> None:
        """None: no solutions are published."""

    def stops(self, item: dict[str, Any]) -> tuple[str, ...]:
        """Return the strings that end a function of the language."""
        return (*self.stop, *item["stop_tokens"])

    def context(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """Return the language of the program, its beginning and its tests."""
        return {"programming_language": item["language"], "beginning": item["prompt"], "tests": item["tests"]}

    def post_process(self, text: str, sample: Sample) -> str | None:
        """Return the program without its tests; None for an empty reply."""
        item = dict(sample.fields)
        return f"{item['prompt'].rstrip()}\n{body(item['prompt'], text, self.stops(item))}" if text.strip() else None

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record."""
        language = fields.text(record, "language")
        if language not in LANGUAGES:
            raise DataError(unusable("language", language, f"one of {', '.join(LANGUAGES)}"))
        texts = {name: fields.text(record, name) for name in ("name", "language", "prompt", "tests")}
        return {**texts, "stop_tokens": fields.texts(record, "stop_tokens")}
