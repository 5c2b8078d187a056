"""Answers that the built-in scenarios read in real replies, against those that a person reads there."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.replies.replies import disagreements, load


def test_the_table_holds_distinct_replies_of_both_models() -> None:
    rows = [row for part in ("work", "held_out", "second", "third") for row in load(part)]
    assert Counter(row.part for row in rows) == {"work": 140, "held_out": 60, "second": 55, "third": 60}
    assert len({(row.scenario, row.reply) for row in rows}) == len(rows)
    assert len({(row.model, row.scenario) for row in rows}) == 6


def test_at_most_one_of_the_140_replies_is_read_otherwise() -> None:
    assert len(result := disagreements(load("work"))) <= 1, result


@pytest.mark.parametrize("part", ["held_out", "second", "third"])
def test_none_of_the_held_out_replies_is_read_otherwise(part: str) -> None:
    assert disagreements(load(part)) == []
