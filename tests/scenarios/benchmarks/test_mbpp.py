from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.programs import Mbpp
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests


def row(number: int, **changes: Any) -> dict[str, Any]:
    fields = {
        "task_id": number,
        "text": f"Add {number}.",
        "code": f"def help_it(x):\r\n    return x\r\ndef add_{number}(x):\r\n    return help_it(x) + {number}",
        "test_list": [f"assert add_{number}(1) == {number + 1}", f"assert add_{number}(0) == {number}"],
        "test_setup_code": "",
        "challenge_test_list": [],
    }
    return fields | changes


CODE = "```python\ndef help_it(x):\n    return x\ndef add_{0}(x):\n    return help_it(x) + {0}\n```"
TASK = "Write a Python function. Add {0}.\nThese tests must pass:\n\nassert add_{0}(1) == {1}\nassert add_{0}(0) == {0}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return json_lines(tmp_path / "mbpp.jsonl", [row(number) for number in (2, 10, 11, 510, 511, 974)])


def test_the_tasks_of_the_paper_are_evaluated_and_its_prompts_are_the_examples(file: Path) -> None:
    first, last = sample_requests(Mbpp(file), "few_shot_2", chat=False)
    shown = [f"{TASK.format(number, number + 1)}\n{CODE.format(number)}\n\n" for number in (2, 10)]
    question = f"{TASK.format(11, 12)}\n```python"
    assert first.text in {f"{shown[0]}{shown[1]}{question}", f"{shown[1]}{shown[0]}{question}"}
    assert last.text.endswith(f"{TASK.format(510, 511)}\n```python")
    assert first.golds == ("def help_it(x):\n    return x\ndef add_11(x):\n    return help_it(x) + 11",)


def test_a_chat_without_examples(file: Path) -> None:
    first, _ = sample_requests(Mbpp(file))
    assert first.text == f"user: {TASK.format(11, 12)}\nassistant: ```python"


def test_a_file_without_these_tasks_is_evaluated_whole(tmp_path: Path) -> None:
    assert len(Mbpp(json_lines(tmp_path / "mbpp.jsonl", [row(600), row(601)])).rows) == 2


def test_the_sanitized_file_is_a_list_with_prompts_and_imports(tmp_path: Path) -> None:
    sanitized = row(12, prompt="Add twelve.", test_imports=["import math", "import re"])
    path = tmp_path / "sanitized-mbpp.json"
    path.write_text(json.dumps([{name: value for name, value in sanitized.items() if name != "text"}]))
    (sample,) = draw(Mbpp(path), 1, 42)
    assert sample.fields["task"] == "Add twelve."
    assert sample.context == {
        "function": "add_12",
        "tests": ["assert add_12(1) == 13", "assert add_12(0) == 12"],
        "setup": "import math\nimport re",
    }


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            {"code": "x = 1"},
            "row 1, column 'code': defines no function, expected the function that the test ['assert add",
        ),
        ({"code": "def f(): pass"}, "row 1, column 'code': defines f, expected the function that the test"),
        ({"test_list": "assert f()"}, "row 1, column 'test_list': found 'assert f()' (str), expected a list"),
        ({"task_id": "11"}, "row 1, column 'task_id': found '11' (str), expected a whole number"),
        ({"text": None}, "row 1, column 'text' or 'prompt': missing or empty"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, change: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError) as refused:
        _ = Mbpp(json_lines(tmp_path / "mbpp.jsonl", [row(11, **change)])).rows
    assert fault in str(refused.value)


def test_a_test_may_have_a_space_before_the_arguments(tmp_path: Path) -> None:
    spaced = row(11, test_list=["assert add_11 (1) == 12"])
    (sample,) = draw(Mbpp(json_lines(tmp_path / "mbpp.jsonl", [spaced])), 1, 42)
    assert sample.context["function"] == "add_11"
