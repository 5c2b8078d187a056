from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.report.table import TextColumn, lines, text_width

Column = partial(TextColumn, text=str)
COLUMNS = (
    Column(title="scenario", leaves=3, heads="{}"),
    Column(title="strategy", names=True),
    Column(title="model", leaves=2, heads="{}"),
    Column(title="value", right=True),
    Column(title="tokens", right=True, leaves=1),
    Column(title="verdict"),
)
ROWS = [
    ("triage", "zero_shot", "qwen", "0.5", "1,234", "PASS"),
    ("", "", "", "12.25", "", "FAIL"),
    ("points", "few_shot_3", "qwen", "0.25", "17", ""),
]


def test_where_there_is_room_every_column_is_shown() -> None:
    assert lines(COLUMNS, ROWS, 80) == [
        "scenario  strategy    model  value  tokens  verdict",
        "--------  ----------  -----  -----  ------  -------",
        "triage    zero_shot   qwen     0.5   1,234  PASS",
        "                             12.25          FAIL",
        "points    few_shot_3  qwen    0.25      17",
    ]


def test_columns_leave_in_their_order_and_those_that_head_rows_become_lines() -> None:
    assert lines(COLUMNS, ROWS, 50) == [
        "scenario  strategy    model  value  verdict",
        "--------  ----------  -----  -----  -------",
        "triage    zero_shot   qwen     0.5  PASS",
        "                             12.25  FAIL",
        "points    few_shot_3  qwen    0.25",
    ]
    assert lines(COLUMNS, ROWS, 40) == [
        "scenario  strategy    value  verdict",
        "--------  ----------  -----  -------",
        "qwen",
        "triage    zero_shot     0.5  PASS",
        "                      12.25  FAIL",
        "points    few_shot_3   0.25",
    ]
    assert lines(COLUMNS, ROWS, 30) == [
        "strategy    value  verdict",
        "----------  -----  -------",
        "triage, qwen",
        "zero_shot     0.5  PASS",
        "            12.25  FAIL",
        "points, qwen",
        "few_shot_3   0.25",
    ]


def test_a_column_that_leaves_may_become_a_line_below_its_row() -> None:
    columns = (
        Column(title="run", right=True),
        Column(title="n", right=True),
        Column(title="when", leaves=2, trails="{} UTC"),
        Column(title="changed since", leaves=1, trails="changed since: {}"),
    )
    rows = [("1", "50", "12:40", ""), ("2", "50", "12:50", "engine, data")]
    assert lines(columns, rows, 22) == [
        "run   n  when",
        "---  --  -----",
        "  1  50  12:40",
        "  2  50  12:50",
        "    changed since: engine, data",
    ]
    assert lines(columns, rows, 10)[2:] == [
        "  1  50",
        "    12:40 UTC",
        "  2  50",
        "    12:50 UTC",
        "    changed since: engine, data",
    ]


def test_names_above_rows_break_into_lines() -> None:
    assert lines(COLUMNS, [("a_long_scenario", "s", "a_long_model", "0.5", "1", "PASS")], 24)[2:] == [
        "a_long_scenario",
        "a_long_model",
        "s           0.5  PASS",
    ]


def test_a_long_name_in_the_last_column_is_the_last_line_of_its_row() -> None:
    columns = (Column(title="verdict"), Column(title="gate", names=True))
    assert lines(columns, [("PASS", ">= 1"), ("FAIL", ">= baseline - 0.02")], 20)[2:] == [
        "PASS     >= 1",
        "FAIL",
        "  >= baseline - 0.02",
    ]


def test_where_even_the_last_columns_are_too_wide_long_names_stand_on_lines_of_their_own() -> None:
    assert lines(COLUMNS, ROWS, 24) == [
        "strategy  value  verdict",
        "--------  -----  -------",
        "triage, qwen",
        "zero_shot",
        "            0.5  PASS",
        "          12.25  FAIL",
        "points, qwen",
        "few_shot_3",
        "           0.25",
    ]


def test_a_name_in_the_middle_begins_where_its_column_does_if_it_fits() -> None:
    columns = (Column(title="a"), Column(title="metric", names=True), Column(title="n", right=True))
    assert lines(columns, [("x", "recall", "1"), ("y", "per_class.Major.recall", "2")], 14) == [
        "a  metric    n",
        "-  --------  -",
        "x  recall    1",
        "y",
        "per_class.Major.recall",
        "             2",
    ]


def test_wide_characters_take_two_places_and_combining_ones_none() -> None:
    columns = (Column(title="name"), Column(title="n", right=True))
    assert lines(columns, [("漢字漢字", "1"), ("e\u0301", "22")], 80) == [
        "name       n",
        "--------  --",
        "漢字漢字   1",
        "e\u0301         22",
    ]


def test_values_cannot_break_the_table() -> None:
    columns = (Column(title="name"), Column(title="n"))
    assert lines(columns, [("a\n::error::x\x1b", "1")], 80)[2:] == [r"a\n::error::x\x1b  1"]


WORDS = st.text(st.sampled_from("abc_.漢"), max_size=12)


@given(st.lists(st.tuples(*[WORDS] * len(COLUMNS)), max_size=5), st.integers(0, 90))
def test_no_word_is_ever_broken_and_only_a_lone_one_is_wider_than_the_terminal(
    rows: list[tuple[str, ...]], width: int
) -> None:
    result = lines(COLUMNS, rows, width)
    least = sum(len(COLUMNS[place].title) for place in (1, 3, 5)) + 4
    widest = [max([0, *(text_width(row[place]) for row in rows)]) for place in (3, 5)]
    for line in result:
        fixed = least + sum(widest)
        assert text_width(line) <= max(width, fixed) or len(line.replace(", ", "").split()) == 1
    stay = [row[place] for row in rows for place in (1, 3, 5)]
    shown = [word for line in result for word in line.split()]
    assert all(word in shown for word in stay if word)


@pytest.mark.parametrize("width", [0, 5, 1000])
def test_no_rows_are_titles_alone(width: int) -> None:
    assert len(lines(COLUMNS, [], width)) == 2
