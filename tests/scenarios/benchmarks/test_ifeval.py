from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.metrics.library.ifeval import read_instructions
from pytest_puma.scenarios.benchmarks.instructions import IfEval
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

ROWS = [
    {
        "key": 7,
        "prompt": "Describe a lake in at least 9 words.\nUse no comma.",
        "instruction_id_list": ["length_constraints:number_words", "punctuation:no_comma"],
        "kwargs": [{"relation": "at least", "num_words": 9}, {}],
    },
    {
        "key": 12,
        "prompt": "Name a colour, in double quotation marks.",
        "instruction_id_list": ["startend:quotation"],
        "kwargs": [{}],
    },
]


@pytest.fixture
def scenario(tmp_path: Path) -> IfEval:
    return IfEval(json_lines(tmp_path / "input_data.jsonl", ROWS))


def test_the_prompt_is_all_that_the_model_reads(scenario: IfEval) -> None:
    lake, colour = sample_requests(scenario)
    assert lake.text == "user: Describe a lake in at least 9 words.\nUse no comma.\nassistant:"
    assert colour.text == "user: Name a colour, in double quotation marks.\nassistant:"


def test_plain_text_is_the_prompt_and_no_blank_line_ends_a_reply(scenario: IfEval) -> None:
    assert sample_requests(scenario, chat=False)[1].text == "Name a colour, in double quotation marks.\n"
    assert scenario.stop == ("<|endoftext|>",)


def test_a_folder_has_the_published_file(scenario: IfEval, tmp_path: Path) -> None:
    assert sample_requests(IfEval(tmp_path)) == sample_requests(scenario)


def test_a_row_has_no_truth_and_gives_its_instructions_to_the_metrics(scenario: IfEval) -> None:
    item = scenario.row(ROWS[0])
    assert scenario.references(item) == ()
    context = scenario.context(item)
    assert context == {name: ROWS[0][name] for name in ("instruction_id_list", "kwargs")}
    words, comma = read_instructions("x", context["instruction_id_list"], context["kwargs"])
    assert (words.strict("It is wet"), comma.strict("It is wet")) == (False, True)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"key": None}, "column 'key': missing or empty"),
        ({"key": "a"}, "column 'key': found 'a' (str), expected a whole number"),
        ({"prompt": 5}, "column 'prompt': found 5 (int), expected a text"),
        ({"instruction_id_list": "no_comma"}, "column 'instruction_id_list': found 'no_comma' (str), expected a list"),
        (
            {"instruction_id_list": [1, 2]},
            "column 'instruction_id_list': found [1, 2] (list), expected a list of texts",
        ),
        ({"kwargs": {}}, "column 'kwargs': found {} (dict), expected a list"),
        ({"kwargs": [{}]}, "column 'kwargs': found 1 entries for 2 in 'instruction_id_list', expected one for each"),
        ({"kwargs": [], "instruction_id_list": []}, "column 'kwargs': found 0 entries for 0"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, change: dict[str, Any], fault: str) -> None:
    file = json_lines(tmp_path / "ifeval.jsonl", [ROWS[1], ROWS[0] | change])
    with pytest.raises(DataError) as refused:
        _ = IfEval(file).rows
    assert f"row 2, {fault}" in str(refused.value)


def test_without_data_it_says_where_they_are() -> None:
    with pytest.raises(DataError, match=r"541 prompts.*CC BY 4.0.*hf:google/IFEval@REVISION.*--puma-data ifeval=PATH"):
        _ = IfEval().rows
