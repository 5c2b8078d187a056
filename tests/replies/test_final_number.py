"""The number that a text ends with or marks as its answer."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pytest_puma.replies import readers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        # The convention of GSM8K, with a calculation before it or a remark behind it.
        ("9 * 2 = <<9*2=18>>18\n#### 18", "18"),
        ("#### $1,800.00\n\nI hope that 5 of 6 agree.", "1800"),
        ("#### -7 degrees in 24 hours", "-7"),
        ("#### 18\n\n#### Conclusion\nThat took 3 steps.", "3"),
        ("#### 1. Count\nThere are 4.\n#### 2. Add\n4 + 5 = 9", "9"),
        ("#### 2) Add\n4 + 5 = 9", "9"),
        ("#### 12.5", "12.5"),
        ("#### 3. ", "3"),
        # Boxes come first, the last one of several.
        ("\\boxed{3}, no: \\boxed{4} of 5\n#### 6", "4"),
        ("$\\boxed{x = 1\\,234}$ for 2 years", "1234"),
        ("\\boxed{\\text{none}} of 5", "5"),
        ("\\fbox{7} of 8", "7"),
        # A line of its own.
        ("Q: 5?\nA: 18", "18"),
        ("**A:** 18 eggs", "18"),
        ("A: 5 eggs\nB: 7 eggs\n12 eggs", "12"),
        ("Option A: 5\nOption B: 7", "7"),
        ("It has 3 of 4.\nAnswer: 18 dollars\nIn 2 days.", "18"),
        ("**Final Answer:**\n\n$18 for 2 days", "18"),
        # A sentence.
        ("So the answer is 18. She has 3 left.", "18"),
        ("The answer is: **$18**. That is 5 more.", "18"),
        ("The answer is unclear to me. Perhaps 5?", "5"),
        ("The answer is 3 + 4 = 7 eggs of 9.", "7"),
        ("The answer is that 3 friends pay 54", "54"),
        ("The answer is 54 for 3 friends", "54"),
        ("The answer is \\frac{3}{4} of 20", "0.75"),
        ("The answer is 1,000.5 g.", "1000.5"),
        ("The answer is 18, as it takes 3 days to dig them.", "18"),
        ("My answer is that she pays x = five of 6", "6"),
        ("Answer: she makes 54 in 3 days", "54"),
        # The last sentence, whose numbers may tell a time or a part.
        ("There are 7 of them.\nSo, she spends 540 dollars over 30 days.", "540"),
        ("So in 3 days she makes 54 dollars.", "54"),
        ("So he waits for 3 hours.", "3"),
        ("Meet 12 people at 5 p.m. on the 3rd of May", "3"),
        ("He waters 1250 roses by 5 pm.", "1250"),
        ("They pay $20 each for 3 tickets.", "3"),
        ("So, there are 92 rows of 5 stars on the flag.", "92"),
        ("So, it will take the gardener 3 days to plant 25 trees and 14 hedges.", "3"),
        ("He took the 7 children to 3 parks.", "3"),
        ("He walks 1.6 miles to reach his goal of 4 miles.", "1.6"),
        ("5 apples have a total of 10 seeds.", "10"),
        ("25 percent of 80 is 20.", "20"),
        ("1/4 of 20 is 5.", "5"),
        ("So 2 * 5 = 10 eggs cost $3.", "10"),
        ("So x = 2 and 3 + x = y.", "3"),
        ("She has 18. Is that clear?", "18"),
        ("She has 18 left.\n\nI hope that this helps!\n", "18"),
        ("In 5 minutes for 3 days", "3"),
        # A measure that is part of a word.
        ("He digs 20 holes for 2-foot-wide trees.", "20"),
        ("She counts 7 of them.\nThese are 2-foot-wide bushes.", "7"),
        ("A 5-year-old plays.", None),
        ("The answer is a 20-dollar bill", "20"),
        ("It is 5-3 and 10-x", "10"),
        # Two numbers are none.
        ("#### 3 or 4", None),
        ("The answer is 3 or $4.", None),
        ("The answer is 3, in 2 or 3 days.", "3"),
        # Nothing of that.
        ("She pays 3 + 4 = 7 dollars.", "7"),
        ("no number", None),
        ("", None),
    ],
)
def test_the_number_that_a_text_gives_as_its_answer(text: str, number: str | None) -> None:
    assert readers.final_number(text) == number
    assert readers.final_value(text) == (None if number is None else Fraction(number))


@pytest.mark.parametrize("text", ["3 or 4", "It is 3 or 4.", "Answer: 3 or 4", "I do not know. Perhaps 5 or $8!"])
def test_two_numbers_name_none(text: str) -> None:
    assert readers.final_number(text) is None


@pytest.mark.parametrize(("text", "number"), [("It takes 3 or 4 hours.", "4"), ("12 or more, so 144", "144")])
def test_a_hedge_before_other_words_is_none(text: str, number: str) -> None:
    assert readers.final_number(text) == number
