"""Differences of signatures."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.baseline.entry import changed_parts

SIGNATURE: dict[str, Any] = {"data": None, "template_sha256": "t", "seed": 42, "generation": {}, "engine": {}}


@pytest.mark.parametrize(
    ("part", "named"), [("parser_sha256", "the parser"), ("scenario_sha256", "the code of the scenario")]
)
def test_changed_code_is_named_if_both_signatures_have_it(part: str, named: str) -> None:
    one, other = SIGNATURE | {part: "a"}, SIGNATURE | {part: "b"}
    assert changed_parts(one, other) == {named: ("b", "a")}
    assert changed_parts(one, SIGNATURE) == changed_parts(SIGNATURE, one) == changed_parts(one, one) == {}
