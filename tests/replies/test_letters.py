"""Choices as lines with letters, and the choice that a reply names."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_puma.replies.letters import lettered, read_choice

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
        ("The answer is A, because it is cold.", "ice"),
        ("The answer is A because it is cold.", "ice"),
        ("The answer is A house.", "a house"),
        ("Answer: A house", "a house"),
        ("The answer is C: a house", "a house"),
        ("I would choose option **B**", "ice cream"),
        ("I would go with B.", "ice cream"),
        ("It is (b), I think", "ice cream"),
        ("The correct answer is b.", "ice cream"),
        ("Of all that, the answer, as one says, is:\n\nD", "New York"),
        ("So the answer is <|begin_of_box|>B<|end_of_box|>", "ice cream"),
        ("I considered (A), but it is wrong. Final answer: D.", "New York"),
        ("\\boxed{\\Delta A} is small.\n\n**Answer: D**", "New York"),
        ("<answer>B</answer>", "ice cream"),
        ('{"answer": "B"}', "ice cream"),
        ("The final answer is $\\boxed{B}$.", "ice cream"),
        ("Choice D", "New York"),
        ("D New York", "New York"),
        # Remarks on the others.
        ("B\nOption A is wrong because it is small.", "ice cream"),
        ("B. Ice is colder. (A) is not a food.", "ice cream"),
        ("B. It melts.\n\nA. Ice is colder.\nC. A house is warm.", "ice cream"),
        ("The answer is B, not A.", "ice cream"),
        ("It is not (A) but (B).", "ice cream"),
        ("Not New York but ice", "ice"),
        # The list of the choices is no answer, what follows is.
        ("A. ice\nB. ice cream\nC. a house\nD. New York\nThe answer is D.", "New York"),
        ("A) cold\nB) also cold\n\nAnswer: B) ice cream", "ice cream"),
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
        "The answer is a city.",
        "The answer is a, b.",
        "The answer is (A) or (B).",
        "The answer is A or B",
        "(A) and (C)",
        "(A)/(B)",
        "B, C, and D",
        "Answer: A, or maybe (C)",
        "Option A and option B",
        # A letter with the text of another choice, and two statements.
        "C. New York",
        "C. New York, as it is large",
        "(C) **New York**",
        "The answer is C. New York",
        "C. It has walls. The correct answer is D. New York",
        "C. a house\n\nExplanation: it has walls. The answer is (D).",
        # Repeated choices.
        "A. ice\nB. ice cream\nC. a house\nD. New York",
        "A. ice\nB. ice cr",
        "It is not (A).",
        "The answer is not ice.",
        "It isn't New York.",
    ],
)
def test_a_reply_that_names_none_or_several_gives_no_answer(reply: str) -> None:
    assert read_choice(reply, CHOICES) is None


@pytest.mark.parametrize("unit", ["A", " ", "(", "*", "A ", "(A)", "not ", "answer is ", "A. ice\n", "**A "])
def test_long_replies_are_read_in_linear_time(unit: str) -> None:
    read_choice(unit * (100_000 // len(unit)), CHOICES)
    read_choice(f"The answer is {unit * (100_000 // len(unit))}!", CHOICES)


@pytest.mark.parametrize(
    ("reply", "texts", "expected"),
    [
        # A capital letter is a place, also where the texts are letters.
        ("B", "ACDB", "C"),
        ("The answer is B", "ACDB", "C"),
        ("b", "ACDB", "C"),
        ("a", ("the", "a", "an"), "a"),
        ("b", ("the", "a", "an"), "a"),
        # Texts that differ in case alone.
        ("B. Co", ("CO", "Co", "NO", "No"), "Co"),
        ("(B) Co", ("CO", "Co", "NO", "No"), "Co"),
        ("Co", ("CO", "Co", "NO", "No"), "Co"),
        ("A. Co", ("CO", "Co", "NO", "No"), None),
        ("co", ("CO", "Co", "NO", "No"), None),
    ],
)
def test_letters_and_cases_tell_choices_apart(reply: str, texts: Sequence[str], expected: str | None) -> None:
    assert read_choice(reply, list(texts)) == expected
