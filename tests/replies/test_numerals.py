from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_puma.replies.numerals import decimal_text, number_of, numbers

#: A text, and its numbers as fractions.
TEXTS = [
    ("She sells 9 eggs for $2 each, so $18.", "9 2 18"),
    ("1,000 and 12,345,678.5", "1000 24691357/2"),
    (
        "1,\\!000, 1{,}000, 1\\,000, 1\\!000, 1\u00a0000, 1\u2009000 and 1\u202f000",
        "1000 1000 1000 1000 1000 1000 1000",
    ),
    ("1,5 and 12,34 and 1,0000 and 0,500", "1 5 12 34 1 0 0 500"),
    ("5,000,000.", "5000000"),
    ("Pay $1,250.50, -$3, $-4, -\u20ac5 or \u00a3 6.", "2501/2 -3 -4 -5 6"),
    ("70 % of 5% is 3.5\\%", "70 5 7/2"),
    ("-1, \u22122, +3, (-4), =-5", "-1 -2 3 -4 -5"),
    ("10-3, 10 - 3, 2024-25, (5)-4, x-5, 5%-4, {3}-2", "10 3 10 3 2024 25 5 4 5 5 4 3 2"),
    ("8 - -3 and 3--4", "8 -3 3 -4"),
    ("1/2, 6/ 3, -3/4, 1 1/2, 5 3/4 inch, -1 1/2", "1/2 2 -3/4 3/2 23/4 -3/2"),
    (r"\frac{1}{2} \dfrac{-3}{4} \tfrac34 1\frac12 -\frac{1}{2} \frac{ 1 }{ 3 }", "1/2 -3/4 3/4 3/2 -1/2 1/3"),
    ("\u00bd cup, 2\u00bd, 1 \u00be, \u215b", "1/2 5/2 7/4 1/8"),
    ("1/0 and 2/0", ""),
    ("1/2/2024", "1 2 2024"),
    ("1e3, 1.5E-2, 2e+1, 1e, 5e3x", "1000 3/200 20 1"),
    ("1e1000 and 2.5E9999", ""),
    (".5, -.5, 0.50, 1., 3.5.", "1/2 -1/2 1/2 1 7/2"),
    ("version 1.2.3 of x5 and B2B", ""),
    ("the 5th of 3:30, 5x and 7am", "5 3 30 5 7"),
    ("**18**, _19_, `20`, $21$, #22, [23]", "18 19 20 21 22 23"),
    ("007 and \u0663", "7 3"),
    ("5\u00b2 and 10^5", "5 10 5"),
    ("no number, not even a . or - or $", ""),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS, ids=[text for text, _ in TEXTS])
def test_numbers_of_a_text(text: str, expected: str) -> None:
    assert list(numbers(text)) == [Fraction(each) for each in expected.split()]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("18", "18"), (" **-18.50** ", "-37/2"), ("$1,250.50", "2501/2"), ("\\$5", "5"), ("`3`.", "3")),
        *(("70%", "70"), ("70 \\%", "70"), ("5 \u20ac", "5"), ("5\u00a3", "5"), ("5\u00a5", "5")),
        *(("$\\frac{1}{2}$", "1/2"), ("1 1/2", "3/2"), ("2\u00bd", "5/2"), ("3\r\n", "3")),
    ],
)
def test_a_text_that_is_a_number(text: str, value: str) -> None:
    assert number_of(text) == Fraction(value)


@pytest.mark.parametrize("text", ["", "x", "18 eggs", "1, 2", "1-2", "2^5", "1/0", "x=5", "18!", "1e1000", "(5)"])
def test_a_text_that_is_more_than_a_number_or_none(text: str) -> None:
    assert number_of(text) is None


@pytest.mark.parametrize("digits", [400, 401, 5000])
def test_a_run_of_digits_that_python_refuses_to_convert_is_no_number(digits: int) -> None:
    assert list(numbers("9" * digits)) == ([10**400 - 1] if digits == 400 else [])
    assert list(numbers("0." + "9" * digits)) == ([1 - Fraction(1, 10**400)] if digits == 400 else [])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((Fraction(3), "3"), (Fraction(-5, 2), "-2.5"), (Fraction(1, 8), "0.125"), (Fraction(7, 50), "0.14")),
        *((Fraction(2, 3), "2/3"), (Fraction(-1, 6), "-1/6"), (Fraction(0), "0"), (Fraction(100), "100")),
        (Fraction(1, 10**1300), "0." + "0" * 1299 + "1"),
    ],
)
def test_a_number_has_one_spelling(value: Fraction, text: str) -> None:
    assert decimal_text(value) == text


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6) | st.integers().map(Decimal))
def test_decimals_are_read_exactly_however_they_are_written(value: Decimal) -> None:
    for text in (f"{value:f}", f"{value:,f}", f"{value:e}", f"so it is ${value:,f}.", f"**{value:f}**"):
        assert list(numbers(text)) == [Fraction(value)], text
    assert number_of(f"${value:,f}") == Fraction(value)


@given(st.fractions(max_denominator=10**6))
def test_the_spelling_of_a_number_is_read_as_that_number(value: Fraction) -> None:
    assert list(numbers(decimal_text(value))) == [value]
    assert number_of(decimal_text(value)) == value


@given(st.text(alphabet="0123456789,./-+eE $\\frac{}\u00bd\u2212%x ", max_size=60))
@example("1E400")
@example("-9.9e399 and 1e-400")
@example("12e-401")
def test_every_text_can_be_read(text: str) -> None:
    for value in numbers(text):
        assert number_of(decimal_text(value)) == value
    number_of(text)
