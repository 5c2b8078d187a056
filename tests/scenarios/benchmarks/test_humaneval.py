from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.scenarios.benchmarks.programs import DEFINES_FUNCTION, HumanEval
from pytest_puma.testing import Cell, Engine, Model, ScriptedBackend, parse_strategy
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

PROMPT = 'def add(a, b):\n    """Add two numbers."""\n'


def row(name: str, prompt: str = PROMPT, body: str = "    return a + b\n") -> dict[str, Any]:
    return {
        "task_id": name,
        "prompt": prompt,
        "entry_point": prompt.partition("(")[0].split()[-1],
        "canonical_solution": body,
        "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    }


ROWS = [row("HumanEval/0"), row("HumanEval/1", 'def one():\n    """Return 1."""\n', "    return 1\n")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "HumanEval.jsonl.gz"
    path.write_bytes(gzip.compress("".join(f"{json.dumps(each)}\n" for each in ROWS).encode()))
    return path


def test_in_a_chat_the_reply_begins_with_the_code(file: Path) -> None:
    add, _ = sample_requests(HumanEval(file))
    code = 'def add(a, b):\n    """Add two numbers."""'
    assert add.text == (
        f"user: Complete this Python function. Write code only.\n\n{code}\nassistant: ```python\n{code}"
    )
    assert add.golds == ("    return a + b",)


def test_plain_text_is_the_code_alone(file: Path) -> None:
    add, _ = sample_requests(HumanEval(file), chat=False)
    assert add.text == 'def add(a, b):\n    """Add two numbers."""'


def test_an_example_in_plain_text_is_a_whole_function(file: Path) -> None:
    (add,) = sample_requests(HumanEval(file), "one_shot", chat=False, samples=1)
    whole = {each["prompt"] + each["canonical_solution"].rstrip() for each in ROWS}
    example, _, rest = add.text.partition("\n\ndef")
    assert example in whole
    assert f"def{rest}\n" in {each["prompt"] for each in ROWS}


@pytest.mark.parametrize(
    ("reply", "defined"),
    [("\n    return a + b", 1.0), ("\nreturn a + b\n```\nDone.", 1.0), (" I cannot.", 0.0), ("", 0.0)],
)
def test_a_run_counts_functions_that_python_can_parse(file: Path, reply: str, defined: float) -> None:
    cell = Cell(
        scenario=HumanEval(file),
        strategy=parse_strategy("zero_shot"),
        model=Model(name="m", path=Path("m.gguf")),
        scores=(DEFINES_FUNCTION, LIBRARY["bits_per_byte"]),
    )

    def model(prompt: str) -> str:
        code = prompt.rpartition("Write code only.\n\n")[2]
        return f"```python\n{code}{reply}"

    outcome = evaluate(cell, Engine(ScriptedBackend(model)))
    assert outcome["defines_function"] == defined
    (add,) = [each for each in outcome.predictions if each.sample_id == "HumanEval/0"]
    if defined:
        assert add.text == f"{PROMPT}    return a + b\n"


def test_the_published_solution_is_scored_on_a_line_of_its_own(file: Path) -> None:
    cell = Cell(
        scenario=HumanEval(file),
        strategy=parse_strategy("zero_shot"),
        model=Model(name="m", path=Path("m.gguf")),
        scores=(DEFINES_FUNCTION, LIBRARY["bits_per_byte"]),
        samples=1,
    )
    solutions = {each["prompt"].rstrip(): each["canonical_solution"].rstrip() for each in ROWS}

    def model(prompt: str) -> str:
        code = prompt.rpartition("Write code only.\n\n")[2]
        return f"```python\n{code}\n{solutions[code]}"

    assert evaluate(cell, Engine(ScriptedBackend(model)))["bits_per_byte"] == pytest.approx(0.0, abs=1e-6)


def test_the_tests_are_arguments_of_metrics(file: Path) -> None:
    scenario = HumanEval(file)
    assert scenario.context(ROWS[0]) == {"function": "add", "test": ROWS[0]["test"]}


def test_a_faulty_row_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"row 1, column 'entry_point': missing or empty; the row has: task_id, prompt"):
        _ = HumanEval(json_lines(tmp_path / "h.jsonl", [ROWS[0] | {"entry_point": None}])).rows


def test_without_a_path_the_error_has_the_checksum() -> None:
    with pytest.raises(
        DataError, match=r"HumanEval.jsonl.gz, 44,877 bytes: 164 problems \(licence: MIT; SHA-256 b79612"
    ):
        _ = HumanEval().rows
