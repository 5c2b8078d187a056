"""Phrases of messages."""

from __future__ import annotations

import pytest

from pytest_puma.phrases import counted, described, did_you_mean, named, one_line, shortened, shown, there_are


class _Unwritable:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("names", "limit", "phrase"),
    [
        ((), None, "none"),
        ((), 2, "none"),
        (("a",), 1, "a"),
        (("a", "b"), None, "a, b"),
        (("a", "b", "c"), 2, "a, b and 1 more"),
        (range(2000), 1, "0 and 1,999 more"),
    ],
)
def test_a_list_of_names_ends_with_the_number_of_the_others(
    names: tuple[str, ...], limit: int | None, phrase: str
) -> None:
    assert named(names, limit) == phrase


@pytest.mark.parametrize(("number", "phrase"), [(0, "0 cells"), (1, "1 cell"), (2, "2 cells"), (2000, "2,000 cells")])
def test_a_count_has_its_noun_in_the_singular_or_the_plural(number: int, phrase: str) -> None:
    assert counted(number, "cell") == phrase


def test_a_plural_may_differ_in_more_than_an_s() -> None:
    assert [counted(number, "reply", "replies") for number in (1, 2)] == ["1 reply", "2 replies"]


@pytest.mark.parametrize(
    ("text", "limit", "phrase"),
    [("abc", 3, "abc"), ("abcd", 3, "abc..."), ("ab cd", 3, "ab..."), ("abcd", None, "abcd"), ("", 3, "")],
)
def test_a_text_beyond_the_limit_ends_with_dots(text: str, limit: int | None, phrase: str) -> None:
    assert shortened(text, limit) == phrase


def test_a_text_of_several_lines_becomes_one() -> None:
    assert one_line(" first\n\tsecond ") == "first second"


def test_an_error_is_its_class_and_its_message_in_one_line() -> None:
    assert described(ValueError("no such\nkey")) == "ValueError: no such key"


@pytest.mark.parametrize(
    ("value", "phrase"),
    [
        ("x" * 9, "'xxxx..."),
        (_Unwritable(), "an object of the type _Unwritable"),
        (10**5000, "an object of the type int"),
    ],
    ids=["a text", "an object that raises", "a number too long to write"],
)
def test_any_value_can_be_shown(value: object, phrase: str) -> None:
    assert shown(value, 5) == phrase


def test_an_unknown_name_gets_the_most_similar_one_and_the_list_of_all() -> None:
    assert did_you_mean("few_shot_4", ["zero_shot", "few_shot_3"]) == "did you mean 'few_shot_3'? "
    assert there_are("typo", ["typos", "caps"]) == "did you mean 'typos'? there are: typos, caps"
    assert there_are("x", {}) == "there are: none"
