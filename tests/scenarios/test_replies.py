"""What the built-in scenarios read in real replies, against what a person reads there."""

from __future__ import annotations

from collections import Counter

from tests.scenarios.replies import disagreements, load


def test_the_table_holds_200_distinct_replies_of_both_models() -> None:
    rows = [*load("work"), *load("held_out")]
    assert Counter(row.part for row in rows) == {"work": 140, "held_out": 60}
    assert len({(row.scenario, row.reply) for row in rows}) == 200
    assert {row.model for row in rows} == {"smollm2", "gemma"}


def test_at_most_one_of_the_140_replies_is_read_otherwise() -> None:
    assert len(found := disagreements(load("work"))) <= 1, found


def test_none_of_the_60_held_out_replies_is_read_otherwise() -> None:
    assert disagreements(load("held_out")) == []
