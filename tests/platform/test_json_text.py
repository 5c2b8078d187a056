from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.platform.json_text import MAX_DEPTH, parse_foreign_json, parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_json_can_hold_is_read_as_it_was_written(value: Any) -> None:
    text = json.dumps(value)
    assert parse_json(text) == parse_json(text.encode()) == parse_foreign_json(text) == value


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[" * 100_000, "it is nested too deeply, more than 100 levels"),
        ("[" * 101 + "]" * 101, "it is nested too deeply, more than 100 levels"),
        ('{"a":' * 101 + "1" + "}" * 101, "it is nested too deeply, more than 100 levels"),
        ("9" * 5000, "a whole number has thousands of digits"),
        ("[1", "Expecting ',' delimiter"),
        (b"\xff", "'utf-8' codec can't decode"),
        ("\ufeff{}", "it begins with a byte order mark"),
    ],
)
def test_text_of_any_kind_that_cannot_be_used_is_a_value_error(text: str | bytes, fault: str) -> None:
    for parse in (parse_json, parse_foreign_json):
        with pytest.raises(ValueError, match=fault):
            parse(text)


def test_brackets_side_by_side_are_not_deep() -> None:
    text = "[" + "[]," * 1000 + "[]]"
    assert parse_json(text) == [[]] * 1001
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)


@pytest.mark.parametrize(
    ("text", "fault"),
    [("[NaN]", "NaN is not JSON"), ("[-Infinity]", "-Infinity is not JSON"), ("1e999", "1e999 is too l")],
)
def test_our_own_files_have_finite_numbers_alone(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        parse_json(text)


def test_files_of_others_may_have_nan_but_no_key_twice() -> None:
    (number,) = parse_foreign_json("[NaN]")
    assert math.isnan(number)
    with pytest.raises(ValueError, match="the key 'a' is there twice"):
        parse_foreign_json('[{"b": {"a": 1, "c": 2, "a": 3}}]')


def test_half_of_a_character_is_refused() -> None:
    """An escape can hold it; no file in UTF-8, no terminal and no database can."""
    assert parse_json(r'"\ud83d\ude00 \\ud800"') == "\N{GRINNING FACE} \\ud800"
    for text in (r'{"\udc00": 1}', rb'["\uD800"]'):
        with pytest.raises(ValueError, match=r"half of a character \('\\ud[8c]00'\)"):
            parse_json(text)
    with pytest.raises(ValueError, match="can't decode byte 0xed"):
        parse_json(b'"\xed\xa0\x80"')
