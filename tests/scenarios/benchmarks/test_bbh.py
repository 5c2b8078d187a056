from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.reasoning import BigBenchHard
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

FRUIT = [
    {"input": "Which is a fruit?\nOptions:\n(A) pear\n(B) chair", "target": "(A)"},
    {"input": "Which is a tree?\nOptions:\n(A) desk\n(B) oak", "target": "(B)"},
]
SUMS = [{"input": "1 + 1 =", "target": "2"}, {"input": "2 + 1 =", "target": "3"}]


def write(path: Path, examples: object) -> Path:
    path.write_text(json.dumps({"canary": "none", "examples": examples}))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "bbh_fruit.json", FRUIT)
    write(tmp_path / "sums.json", SUMS)
    return tmp_path


def test_each_task_is_a_group_and_lends_its_own_examples(folder: Path) -> None:
    scenario = BigBenchHard(folder)
    assert {sample.groups["task"] for sample in draw(scenario, 4, 42)} == {"fruit", "sums"}
    shown = sample_requests(scenario, "one_shot", samples=2)
    (one_sum,) = [each for each in shown if "Options" not in each.text]
    assert one_sum.text in {
        "user: Q: 1 + 1 =\nassistant: A: 2\nuser: Q: 2 + 1 =\nassistant: A:",
        "user: Q: 2 + 1 =\nassistant: A: 3\nuser: Q: 1 + 1 =\nassistant: A:",
    }


def test_plain_text_of_one_task(folder: Path) -> None:
    fruit, tree = sample_requests(BigBenchHard(folder / "bbh_fruit.json"), chat=False)
    assert fruit.text == "Q: Which is a fruit?\nOptions:\n(A) pear\n(B) chair\nA:"
    assert (fruit.golds, tree.golds) == (("(A)",), ("(B)",))


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("(B)", "(B)"),
        ("B", "(B)"),
        ("B.", "(B)"),
        ("(B) oak", "(B)"),
        ("B) oak", "(B)"),
        ("**(B)**", "(B)"),
        ("(B)\n\nQ: And now?", "(B)"),
        ("A desk is none, so the answer is (B).", "(B)"),
        ("The answer is (A)? No, the answer is (B) oak.", "(B)"),
        ("Let me think.\nAnswer: B", "(B)"),
        ("The answer is (A) or (B).", "(A) or (B)"),
        ("(A), (B)", "(A), (B)"),
        ("oak", "oak"),
        ("Both", "Both"),
        ("  ", None),
    ],
)
def test_a_reply_about_options_becomes_a_letter(folder: Path, reply: str, answer: str | None) -> None:
    scenario = BigBenchHard(folder / "bbh_fruit.json")
    assert scenario.read(reply, draw(scenario, 1, 42)[0]) == answer


@pytest.mark.parametrize(
    ("reply", "answer"), [("A.", "A"), ("False.", "False"), ("The answer is -3.", "-3"), ("`] )`\nDone", "] )")]
)
def test_a_reply_without_options_keeps_its_words(folder: Path, reply: str, answer: str) -> None:
    scenario = BigBenchHard(folder / "sums.json")
    assert scenario.read(reply, draw(scenario, 1, 42)[0]) == answer


def test_json_lines_name_the_task_in_each_row(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "bbh.jsonl", [{"task": "sums", **SUMS[0]}])
    (one,) = sample_requests(BigBenchHard(file))
    assert one.golds == ("2",)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (
            "[]",
            (
                "not in the format of BIG-Bench-Hard (TypeError('list indices must be integers or slices, not str')); "
                'expected {"examples": [{"input": ..., "target": ...}]}'
            ),
        ),
        ("{", "sums.json: not in the format of BIG-Bench-Hard"),
        ('{"examples": ["1 + 1"]}', "sums.json: not in the format of BIG-Bench-Hard"),
        ('{"examples": [{"input": "1"}]}', "sums.json, example 1, column 'target': missing or empty"),
    ],
)
def test_another_format_is_refused(tmp_path: Path, content: str, fault: str) -> None:
    (tmp_path / "sums.json").write_text(content)
    with pytest.raises(DataError) as refused:
        _ = BigBenchHard(tmp_path).rows
    assert fault in str(refused.value)


def test_a_folder_without_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no JSON file in .*; expected one for each task, as snarks.json"):
        _ = BigBenchHard(tmp_path).rows
