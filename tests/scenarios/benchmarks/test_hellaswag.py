from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks.continuations import HellaSwag, cleaned
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests


def row(**changes: Any) -> dict[str, Any]:
    fields = {
        "ind": 4,
        "activity_label": "Baking bread",
        "ctx_a": "[header] How to bake [title] Mix it. [step] Use flour.",
        "ctx_b": "then a Woman",
        "ctx": "not read",
        "endings": ["kneads the dough.", "sings  loud [substeps] to a cow.", "sleeps.", "swims away."],
        "label": "0",
    }
    return fields | changes


CONTEXT = "Baking bread: How to bake. Mix it. Use flour. Then a woman"


@pytest.mark.parametrize("label", ["0", 0])
def test_the_endings_continue_the_text(tmp_path: Path, label: object) -> None:
    json_lines(tmp_path / "hellaswag_val.jsonl", [row(label=label)])
    example = row(activity_label="Rowing", ctx_a="A man sits in a boat.", ctx_b="he", label=2)
    json_lines(tmp_path / "hellaswag_train.jsonl", [example])
    (bread,) = sample_requests(HellaSwag(tmp_path), "cloze_scoring_1", chat=False)
    assert bread.text == f"Rowing: A man sits in a boat. He sleeps.\n\n{CONTEXT}"
    assert bread.continuations == (" kneads the dough.", " sings loud to a cow.", " sleeps.", " swims away.")
    assert bread.golds == ("kneads the dough.",)


def test_in_a_chat_an_ending_is_the_reply(tmp_path: Path) -> None:
    (bread,) = sample_requests(HellaSwag(json_lines(tmp_path / "val.jsonl", [row()])), "cloze_scoring")
    assert bread.text == f"user: {CONTEXT}\nassistant:"
    assert bread.continuations[0] == "kneads the dough."


def test_letters_show_the_endings(tmp_path: Path) -> None:
    (bread,) = sample_requests(HellaSwag(json_lines(tmp_path / "val.jsonl", [row()])), "option_scoring")
    assert bread.text == (
        f"user: Which ending fits best?\n{CONTEXT}\nA. kneads the dough.\nB. sings loud to a cow.\n"
        "C. sleeps.\nD. swims away.\nassistant: Answer:"
    )


def test_a_text_may_have_no_second_part(tmp_path: Path) -> None:
    (bread,) = sample_requests(
        HellaSwag(json_lines(tmp_path / "val.jsonl", [row(ctx_a="Mix it.", ctx_b="")])), "cloze_scoring"
    )
    assert bread.text == "user: Baking bread: Mix it.\nassistant:"


def test_a_copy_may_only_have_the_whole_text(tmp_path: Path) -> None:
    copy = {name: value for name, value in row(ctx="Mix it. Then").items() if name in {"ctx", "endings", "label"}}
    (bread,) = sample_requests(HellaSwag(json_lines(tmp_path / "val.jsonl", [copy])), "cloze_scoring")
    assert bread.text == "user: Mix it. Then\nassistant:"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (" a b ", "a b"),
        ("Wash [title] Dry them", "Wash. Dry them"),
        ("[header] How", " How"),
        ("a [step] b [x y] c", "a b c"),
        ("a] [b", "a] [b"),
    ],
)
def test_brackets_are_cleaned(text: str, clean: str) -> None:
    assert cleaned(text) == clean


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"label": ""}, "row 1, column 'label': found '' (str), expected a number from 0 to 3"),
        ({"label": 4}, "row 1, column 'label': found 4 (int), expected a number from 0 to 3"),
        ({"label": 1.0}, "row 1, column 'label': found 1.0 (float), expected a number from 0 to 3"),
        ({"endings": "a b c d"}, "row 1, column 'endings': found 'a b c d' (str), expected a list"),
        ({"endings": [1, 2]}, "row 1, column 'endings': found [1, 2] (list), expected a list of texts"),
        ({"ctx_b": None}, "row 1, column 'ctx_b': missing or empty; the row has: ind, activity_label"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, change: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError) as refused:
        _ = HellaSwag(json_lines(tmp_path / "val.jsonl", [row(**change)])).rows
    assert fault in str(refused.value)
