from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.scenarios import readers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("9 * 2 = $1,250.50.", "1250.5"), ("no number", None), ("", None), ("-3 of 4", "4"), ("1/3", "1/3")),
        ("2 for each of 5 days: -7", "-7"),
    ],
)
def test_the_last_number_in_one_spelling(text: str, number: str | None) -> None:
    assert readers.last_number(text) == number
    assert readers.last_value(text) == (None if number is None else Fraction(number))


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


@pytest.mark.parametrize(
    ("text", "marker", "rest"),
    [
        ("3 + 4\n#### 7", "####", "7"),
        ("#### 7\nand more", "####", "7"),
        ("#### 7\n#### 8 ", "####", "8"),
        ("####7\r\n", "####", "7"),
        ("####", "####", None),
        ("#### \n7", "####", None),
        ("7", "####", None),
        ("A: 18", "A:", "18"),
        ("**A:** 18", "A:", "18"),
        ("DNA: 18", "A:", None),
        ("I say [answer] 18", "[answer]", "18"),
        ("=> a*b `c`", "=>", "a*b `c"),
    ],
)
def test_what_stands_behind_the_last_marker(text: str, marker: str, rest: str | None) -> None:
    assert readers.after_marker(text, marker) == rest


def test_the_marker_is_that_of_gsm8k_by_default() -> None:
    assert readers.after_marker("so\n#### 18") == "18"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("So the answer is (B).", "(B)"),
        ("the answer is (b) because of it. And more.", "(b)"),
        ("The answer is no. She left at 5 p.m. and Bob did not.", "no"),
        ("The answer is Dr. Who. He is old.", "Dr. Who"),
        ("The answer is Mrs. St. Clair.", "Mrs. St. Clair"),
        ("The ANSWER  IS: **valid**.", "valid"),
        ("Answer: 3.5 apples", "3.5 apples"),
        ("The answer is 1. The answer is 2.", "2"),
        ("The answer is\nBerlin\nin Germany", "Berlin"),
        ("The answer is 5 p.m. today", "5 p.m. today"),
        ("The answer is True! Really.", "True"),
        ("the answer is ", None),
        # Two options are none, a denied one is not chosen.
        ("So the answer is (A) or (B).", None),
        ("the answer is (A) and (C)", None),
        ("the answer is (A)/(B)", None),
        ("the answer is (A), (B), and (D).", None),
        ("the answer is (A) or perhaps (C)", None),
        ("the answer is (A), not (B).", "(A)"),
        ("the answer is (A) and I am sure.", "(A)"),
        ("the answer is (A), as (B) is wrong", "(A)"),
        ("the answers are 3 and 4", None),
        ("The reanswer is 3", None),
        ("", None),
    ],
)
def test_the_rest_of_the_sentence_that_states_the_answer(text: str, answer: str | None) -> None:
    assert readers.the_answer_is(text) == answer


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("$\\boxed{\\frac{1}{2}}$", "\\frac{1}{2}"),
        ("\\boxed{1} and \\boxed{ 2 }", "2"),
        ("\\boxed {3}", "3"),
        ("\\fbox{4}", "4"),
        ("\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"),
        ("\\boxed{5} and \\boxed{6", "5"),
        ("\\boxed{\\boxed{7}}", "7"),
        ("\\boxed{}", None),
        ("\\boxed{8", None),
        ("boxed{9}", None),
        ("\\box{10}", "10"),
        ("\\boxed{\\boxed{8} + 9", "8"),
        ("} \\boxed{9} }", "9"),
        ("\\\\boxed{9\\\\}", "9\\\\"),
    ],
)
def test_the_content_of_the_last_complete_box(text: str, content: str | None) -> None:
    assert readers.boxed(text) == content


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        *(("B", "B"), ("b", "B"), ("(b)", "B"), ("B.", "B"), ("B) desk", "B"), ("**B**", "B"), (" B: desk", "B")),
        ("The answer is (C), not (B).", "C"),
        ("Answer: D\nbecause A is wrong", "D"),
        ("I think that B is right", "B"),
        ("A is a letter, so C.", "C"),
        ("A house is a house.", None),
        ("A house, so B", "B"),
        ("It's (a) of four", "A"),
        ("A", "A"),
        ("A, because it fits", "A"),
        ("A\nbecause it fits", "A"),
        ("E", None),
        ("E or D", "D"),
        ("plan Be, DNA, B2, B's, a b c", None),
        ("Vitamin-B", "B"),
        ("B or C", None),
        ("The answer is (A) or (B).", None),
        ("(A), which is (A). The answer is B and C", None),
        ("B, as C is wrong", "B"),
        ("", None),
    ],
)
def test_the_first_letter_that_stands_alone(text: str, letter: str | None) -> None:
    assert readers.first_letter(text, "ABCD") == letter


@pytest.mark.parametrize(
    ("text", "letter"), [("I am sure that it is I.", "I"), ("I", "I"), ("I think so", None), ("Z", "Z")]
)
def test_the_pronoun_is_no_letter_of_all_letters(text: str, letter: str | None) -> None:
    assert readers.first_letter(text) == letter


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Bug", "bug"),
        ("**bug**.", "bug"),
        ("It is a bug, and this bug is old.", "bug"),
        ("feature request", "feature request"),
        ("A feature, no feature request", None),
        ("bug or feature", None),
        ("Not a feature.\nAnswer: bug", "bug"),
        ("debug bugfix C", None),
        ("C++ it is", "c++"),
        ("", None),
    ],
)
def test_the_one_label_that_a_text_names(text: str, label: str | None) -> None:
    assert readers.named_label(text, ["bug", "c++", "feature", "feature request"]) == label


@given(label=st.sampled_from(["a", "A b", "x+", "(y)", "1"]), before=st.text(" \n*_.,:"), after=st.text(" \n*.,!"))
def test_a_label_among_signs_is_named(label: str, before: str, after: str) -> None:
    assert readers.named_label(f"{before.rstrip('_')}{label}{after}", ["a", "A b", "x+", "(y)", "1"]) == label


def test_marked_answers_come_in_their_order() -> None:
    text = "The answer is 1.\nAnswer: 2\n#### 3\n\\boxed{4}\nA: 5"
    assert list(readers.marked_answers(text)) == ["4", "3", "5", "2", "2"]


@pytest.mark.parametrize("reader", [readers.last_number, readers.final_number, readers.after_marker, readers.boxed])
@given(text=st.text(alphabet="answer is:AB#*_`\\boxed{}12,.$= \n\ud800", max_size=80))
def test_every_text_can_be_read_and_no_answer_is_empty(reader: Callable[[str], str | None], text: str) -> None:
    result = reader(text)
    assert result is None or result.strip() == result != ""
    letter, answer = readers.first_letter(text), readers.the_answer_is(text)
    assert letter is None or (len(letter) == 1 and letter.isupper())
    assert answer is None or answer.strip() == answer != ""


#: What a model that loops writes.
LOOPS = (
    "a",
    " ",
    "```\n",
    "1",
    "[",
    "\\boxed{",
    "\\boxed{1}",
    "*",
    "answer is ",
    "A: ",
    "#### ",
    "1,",
    ". ",
    "A ",
    "{",
)


@pytest.mark.parametrize("unit", LOOPS)
def test_long_replies_are_read_in_linear_time(unit: str) -> None:
    for text in (unit * (100_000 // len(unit)), f"The answer is {unit * (100_000 // len(unit))}!x"):
        for read in (readers.last_number, readers.final_number, readers.after_marker, readers.the_answer_is):
            read(text)
        assert readers.boxed(text) == ("1" if unit == "\\boxed{1}" else None)
        readers.first_letter(text)
        readers.named_label(text, ["spam", "not spam", "A", "1"])
