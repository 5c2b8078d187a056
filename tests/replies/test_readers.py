from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.replies import readers


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
        ("\\boxed{\\Delta D} is small.\n\n**Answer: B**", "B"),
        ("\\boxed{\\text{B}} of \\Delta D", "B"),
        ("The correct answer is d.", "D"),
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


def test_a_loop_of_boxes_is_read_in_linear_time() -> None:
    assert readers.boxed("\\boxed{" * 12_000) is None
    assert readers.boxed("\\boxed{1}" * 12_000) == "1"
    assert readers.boxed("\\boxed{" * 12_000 + "2" + "}" * 12_000) == "2"


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("```python\nx = 1\n```", "x = 1"),
        ("Sure! Here it is:\n\n```py\ndef f():\n    return 1\n```\n\nIt returns 1.", "def f():\n    return 1"),
        ("```python\ndef f():\n    retur", "def f():\n    retur"),  # cut off at the token limit
        ("1. So:\n   ```\n   if x:\n       y()\n   z()\n   ```", "if x:\n    y()\nz()"),
        ("```sh\npip install x\n```\nThen:\n```python\nimport x\nx.run_all()\n```", "import x\nx.run_all()"),
        ("\ndef f():\n    return 1\n", "def f():\n    return 1"),
        ("```\n```", None),
        (" \n", None),
    ],
)
def test_code_is_the_longest_block_or_the_whole_reply(text: str, program: str | None) -> None:
    assert readers.code(text) == program
