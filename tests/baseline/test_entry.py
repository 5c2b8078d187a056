"""Differences of signatures, as an entry of a baseline names them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.baseline.entry import changed_parts
from pytest_puma.responses.recipe import changes
from tests import factories

SIGNATURE: dict[str, Any] = {
    "data": {"file": "a.csv", "sha256": "d"},
    "template_sha256": "t",
    "samples": 3,
    "seed": 42,
    "generation": {"temperature": 0.0},
    "engine": {"weights_sha256": "w", "threads": "2"},
}


def test_the_facts_of_two_chat_formats_are_told_apart() -> None:
    formats = ("content: text; thinking: off; answer ends with: '<|im_end|>'", "content: text; answer ends with: 'x'")
    chats = [SIGNATURE | {"engine": {"chat": "True", "chat_format": facts}} for facts in formats]
    assert changes(*chats, read=False) == [
        "the chat format is another one (thinking: off, now None; answer ends with: '<|im_end|>', now 'x')"
    ]


@pytest.mark.parametrize(
    ("part", "named"), [("parser_sha256", "the parser"), ("scenario_sha256", "the code of the scenario")]
)
def test_changed_code_is_named_if_both_signatures_have_it(part: str, named: str) -> None:
    one, other = SIGNATURE | {part: "a"}, SIGNATURE | {part: "b"}
    assert changed_parts(one, other) == {named: ("b", "a")}
    assert changed_parts(one, SIGNATURE) == changed_parts(SIGNATURE, one) == changed_parts(one, one) == {}


@pytest.mark.parametrize(
    ("part", "value", "named"),
    [
        ("data", {"file": "a.csv", "sha256": "other"}, "the data"),
        ("data", None, "the data"),
        ("template_sha256", "other", "the prompt template"),
        ("engine", {"weights_sha256": "other", "threads": "2"}, "the model"),
        ("engine", {"weights_sha256": "w", "threads": "4"}, "the engine"),
        ("engine", {"weights_sha256": "w", "threads": "2", "variant": "lora 5a 0.5"}, "the variant"),
        ("seed", 43, "the seed"),
        ("generation", {"temperature": 1.0}, "the way of decoding"),
        ("repeats", 5, "the repeats"),
        ("subjects", ["law"], "the subjects"),
    ],
)
def test_a_changed_part_of_the_signature_is_named(part: str, value: object, named: str) -> None:
    entry = factories.entry(factories.outcome(signature=SIGNATURE))
    assert entry.changed(SIGNATURE | {part: value}) == (named,)
    assert entry.changed(SIGNATURE) == ()


def test_another_number_of_samples_is_no_change_of_its_own() -> None:
    assert changed_parts(SIGNATURE | {"samples": 50}, SIGNATURE) == {}
