from __future__ import annotations

import pytest

from tests.metrics.library.ifeval.checks import follows


@pytest.mark.parametrize(
    ("reply", "keywords", "followed"),
    [
        ("The cow left the barn.", ["cow", "barn"], True),
        ("The cow left.", ["cow", "barn"], False),
        ("The barn burned.", ["cow", "barn"], False),
        ("COWS and Barns", ["cow", "barn"], True),
        ("no keywords", ["ice cream"], False),
        ("Ice Cream melts", ["ice cream"], True),
    ],
)
def test_all_keywords_occur_in_any_case_and_also_inside_of_words(
    reply: str, keywords: list[str], *, followed: bool
) -> None:
    assert follows("keywords:existence", reply, keywords=keywords) is followed


@pytest.mark.parametrize(
    ("reply", "keyword", "followed"),
    [
        ("I write C++ at work.", "C++", True),
        ("I write C at work.", "C++", False),
        ("It costs $5 (or so).", "$5 (or", True),
        ("Why not?", "why?", False),
        ("abc", "a.c", False),
    ],
)
def test_a_keyword_is_a_text_and_not_a_regular_expression(reply: str, keyword: str, *, followed: bool) -> None:
    assert follows("keywords:existence", reply, keywords=[keyword]) is followed
    assert follows("keywords:frequency", reply, keyword=keyword, frequency=1, relation="at least") is followed
    assert follows("keywords:forbidden_words", reply, forbidden_words=[keyword]) is not followed


@pytest.mark.parametrize(
    ("reply", "frequency", "relation", "followed"),
    [
        ("rain, Rain", 2, "at least", True),
        ("rain", 2, "at least", False),
        ("rain, rainy, train", 3, "at least", True),
        ("rain", 2, "less than", True),
        ("rain rain", 2, "less than", False),
        ("snow", 1, "less than", True),
    ],
)
def test_a_keyword_occurs_at_least_or_less_than_as_often(
    reply: str, frequency: int, relation: str, *, followed: bool
) -> None:
    given = {"keyword": " rain ", "frequency": frequency, "relation": relation}
    assert follows("keywords:frequency", reply, **given) is followed


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ("A rocket rises.", True),
        ("We rock.", False),
        ("ROCK!", False),
        ("hard rock", False),
        ("rocks and bedrock", True),
        ("A hard_rock", True),
        ("the end", False),
    ],
)
def test_forbidden_are_whole_words_in_any_case(reply: str, *, followed: bool) -> None:
    assert follows("keywords:forbidden_words", reply, forbidden_words=["rock", "end"]) is followed


def test_a_forbidden_word_may_begin_and_end_with_any_character() -> None:
    assert not follows("keywords:forbidden_words", "learn c++ today", forbidden_words=["C++"])
    assert not follows("keywords:forbidden_words", "a #tag", forbidden_words=["#tag"])
    assert follows("keywords:forbidden_words", "a#tag", forbidden_words=["#tag"])


@pytest.mark.parametrize(
    ("reply", "letter", "frequency", "relation", "followed"),
    [
        ("Tattoo", "t", 3, "at least", True),
        ("Tattoo", "T", 3, "at least", True),
        ("Tattoo", "t", 4, "at least", False),
        ("Tattoo", "t", 4, "less than", True),
        ("Tattoo", "t", 3, "less than", False),
        ("#a #b", "#", 2, "at least", True),
        ("wow!", "!", 2, "at least", False),
        ("abc", "z", 0, "less than", False),
        ("abc", "z", 0, "at least", True),
    ],
)
def test_a_letter_occurs_at_least_or_less_than_as_often_in_both_cases(
    reply: str, letter: str, frequency: int, relation: str, *, followed: bool
) -> None:
    given = {"letter": letter, "let_frequency": frequency, "let_relation": relation}
    assert follows("keywords:letter_frequency", reply, **given) is followed
