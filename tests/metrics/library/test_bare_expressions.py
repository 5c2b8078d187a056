"""Replies without a mark and without `$`, which `math_match` compares with a number or an expression."""

from __future__ import annotations

import pytest

from pytest_puma.metrics.library.mathematics import math_match

pytest.importorskip("math_verify")


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        # All of it is the answer, not its last number.
        ("5\\pi", "5", 0),
        ("\\sqrt{2}", "2", 0),
        ("x^2", "2", 0),
        ("[1,5]", "5", 0),
        ("\\frac{\\sqrt{3}}{2}", "2", 0),
        ("1,2", "2", 0),
        ("3x+5", "5", 0),
        ("2xy", "2", 0),
        ("ab + 5", "5", 0),
        ("sin(x)+5", "5", 0),
        ("5\\pi cm", "5", 0),
        ("2^{10}", "10", 0),
        ("2^{10}", "1024", 1),
        ("3*4 = 12\n12+5 = 17", "17", 1),
        ("sin 30 = 0.5", "0.5", 1),
        ("total: $5 + $6 = $11", "11", 1),
        ("50\\%", "0.5", 1),
        # The end of a sentence, or of the last line.
        ("The area is 5\\pi.", "5", 0),
        ("The area is 5\\pi.", "5\\pi", 1),
        ("The set is [1,5]", "5", 0),
        ("The result is x+1", "1", 0),
        ("The result is x+1", "x+1", 1),
        ("Area:\n5\\pi", "5", 0),
        ("```latex\nx^2\n```", "x^2", 1),
        ("So:\n\\begin{pmatrix}1\n\\end{pmatrix}", "1", 0),
        # Words, and what is no expression: the last number.
        ("18 eggs", "18", 1),
        ("18 kg", "18", 1),
        ("18 m/s", "18", 1),
        ("-5 \u00b0C", "-5", 1),
        ("1. 18", "18", 1),
        ("12 / 4 = 3 \u2713", "3", 1),
        ("It is 5", "5", 1),
        ("3 or 5", "5", 1),
    ],
)
def test_a_bare_expression_is_compared_as_a_whole(text: str, reference: str, value: int) -> None:
    assert math_match(text, reference) == value
