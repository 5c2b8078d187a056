"""Choices as lines with letters, and the choice that a reply names."""

from __future__ import annotations

import pytest

from pytest_puma.scenarios.letters import lettered, read_choice

CHOICES = ("ice", "ice cream", "a house", "New York")


def test_each_choice_is_a_line() -> None:
    assert lettered(CHOICES) == "A. ice\nB. ice cream\nC. a house\nD. New York"
    assert not lettered([])


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A", "ice"),
        ("b", "ice cream"),
        (" (C) ", "a house"),
        ("D.", "New York"),
        ("**B**", "ice cream"),
        ("B. ice cream", "ice cream"),
        ("B) it melts", "ice cream"),
        ("B: because it melts.", "ice cream"),
        ("B\nBecause it melts.", "ice cream"),
        ("The answer is C.", "a house"),
        ("The correct answer is (D), as it is large.", "New York"),
        ("Answer: A", "ice"),
        ("I choose option B", "ice cream"),
        ("It is **D. New York**", "New York"),
        ("new york", "New York"),
        ("It is New York.", "New York"),
        ("Ice cream!", "ice cream"),
        ("People eat ice cream there", "ice cream"),
        ("Ice", "ice"),
    ],
)
def test_a_reply_names_a_choice_by_its_letter_or_text(reply: str, expected: str) -> None:
    assert read_choice(reply, CHOICES) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "E",
        "A or B",
        "The answer is A. The answer is B.",
        "A large city.",
        "New York or a house",
        "I cannot say",
        "icecream",
        "Dear reader",
    ],
)
def test_a_reply_that_names_none_or_several_gives_no_answer(reply: str) -> None:
    assert read_choice(reply, CHOICES) is None


def test_letters_that_are_choices_themselves_are_taken_as_texts() -> None:
    assert read_choice("B", ["B", "A"]) == "B"
