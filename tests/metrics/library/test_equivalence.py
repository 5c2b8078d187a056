from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.metrics.library.bounded import equivalent

pytest.importorskip("math_verify")

EQUAL = [
    *((r"\frac{1}{2}", "0.5"), (r"\frac12", r"\dfrac{1}{2}"), ("x^2+2x+1", "(x+1)^2"), (r"\sqrt{8}", r"2\sqrt{2}")),
    *(("x=5", "5"), (r"\{1,2\}", r"\{2,1\}"), ("x<5", "5>x"), (r"\sin^2 x + \cos^2 x", "1"), ("3!", "6")),
    *((r"5\%", "0.05"), (r"3\text{ meters}", "3"), (r"10^{-20}", r"\frac{10^{-19}}{10}"), ("10,000", "10000")),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}\frac{2}{2}\\2.0\end{pmatrix}"),
    (r"\frac{3^{400}-1}{3^{401}}", r"\frac{2 \cdot 3^{400}-2}{2 \cdot 3^{401}}"),
    *((r"\sqrt{5+2\sqrt6}", r"\sqrt2+\sqrt3"), (r"(0.5, \sqrt{8})", r"(\frac{1}{2}, 2\sqrt{2})"), (r"50\%", "50")),
]
UNEQUAL = [
    *((r"\frac{1}{2}", "0.51"), ("x^2", "x^3"), ("4x", "4y"), ("p - q", "q - p"), ("[0,1]", "[0,1)"), ("x<5", "x<6")),
    # Six decimals would not tell these apart, and twelve not those.
    *((r"\pi", "3.141593"), ("x", "0.0000001"), ("0.0000001", "0.0000002")),
    *((r"10^{-20}", r"2 \cdot 10^{-20}"), ("0.0000000000001", "0.0000000000002"), ("0", r"10^{-20}")),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\3\end{pmatrix}"),
    # What differs by less than floating point shows, alone or in a part.
    (r"\frac{2 \cdot 3^{40}-1}{3^{41}}", r"\frac{3^{40}-1}{3^{41}}"),
    (r"\frac{5 \cdot 10^{20}}{3 \cdot 10^{20}}", r"\frac{10^{20}}{3 \cdot 10^{20}}"),
    *((f"{start}1-3^{{-50}}", f"{start}1-2^{{-60}}") for start in ("", "x=", r"\sqrt2+", "2,")),
    (r"\frac{3^{4000}-1}{3^{4001}}", r"\frac{3^{4000}-2}{3^{4001}}"),
    *(("", "5"), ("5", ""), (r"\frac{", r"\frac{"), ("__import__('os')", "1"), (r"\text{yes}", r"\text{no}")),
]


@pytest.mark.parametrize(("gold", "answer"), EQUAL)
def test_expressions_that_are_equal(gold: str, answer: str) -> None:
    assert equivalent(gold, answer) is True
    assert equivalent(answer, gold) is True


@pytest.mark.parametrize(("gold", "answer"), UNEQUAL)
def test_expressions_that_are_not_proven_equal(gold: str, answer: str) -> None:
    assert equivalent(gold, answer) is not True
    assert equivalent(answer, gold) is not True


@pytest.mark.parametrize("answer", [r"\frac{", "2. 5", "3 \u2713", ""])
def test_an_answer_that_is_no_expression(answer: str) -> None:
    assert equivalent("5", answer) == "unreadable"


def test_no_text_is_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text in ("open('x','w')", "exec(open('x','w'))", "__import__('os').mkdir('x')", "1 if open('x','w') else 2"):
        equivalent(text, "1")
        equivalent("1", text)
    assert not list(tmp_path.iterdir())
