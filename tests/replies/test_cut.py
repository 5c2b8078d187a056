"""Replies that were cut off: the last word, and answers that nothing could change any more."""

from __future__ import annotations

import pytest

from pytest_puma.replies.answers import ends_in, extends, without_last_word


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        *(("It is 1", "It is "), ("It is 1 ", "It is 1 "), ("1", ""), ("", ""), (" ", " "), ("a\nb", "a\n")),
        ("12 \n 3", "12 \n "),
    ],
)
def test_the_last_word_may_be_incomplete_unless_white_space_follows(text: str, rest: str) -> None:
    assert without_last_word(text) == rest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bug", True),
        ("**Bug**", True),
        ("It fails.\nAnswer: bug", True),
        ("It fails.\nBUG", True),
        ("The label is bug", False),  # or feature, or task
        ("feature", False),  # request
        ("feature request", True),
        ("b", True),
        ("A", False),  # cat
        ("1", False),  # 0
        ("10", True),
        ("", False),
        ("task", False),
    ],
)
def test_a_label_that_is_the_last_line_is_complete_unless_another_one_begins_with_it(text: str, expected: bool) -> None:  # noqa: FBT001
    assert ends_in(text, ["A", "B", "a cat", "bug", "feature", "feature request", "1", "10"]) is expected


def test_a_text_extends_its_beginning() -> None:
    assert extends("one two", "one ")
    assert extends("def f():\n    a = 1 +\n", "def f():\n    a = 1\n")
    assert not any(extends("one two", beginning) for beginning in ("two", "", None))
