from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.metrics.library.equivalence import equivalent

pytest.importorskip("math_verify")

EQUAL = [
    *((r"\frac{1}{2}", "0.5"), (r"\frac12", r"\dfrac{1}{2}"), ("x^2+2x+1", "(x+1)^2"), (r"\sqrt{8}", r"2\sqrt{2}")),
    *(("x=5", "5"), (r"\{1,2\}", r"\{2,1\}"), ("x<5", "5>x"), (r"\sin^2 x + \cos^2 x", "1"), ("3!", "6")),
    *((r"5\%", "0.05"), (r"3\text{ meters}", "3"), (r"10^{-20}", r"\frac{10^{-19}}{10}"), ("10,000", "10000")),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}\frac{2}{2}\\2.0\end{pmatrix}"),
]
UNEQUAL = [
    *((r"\frac{1}{2}", "0.51"), ("x^2", "x^3"), ("4x", "4y"), ("p - q", "q - p"), ("[0,1]", "[0,1)"), ("x<5", "x<6")),
    # Six decimals would not tell these apart, and twelve not those.
    *((r"\pi", "3.141593"), ("x", "0.0000001"), ("0.0000001", "0.0000002")),
    *((r"10^{-20}", r"2 \cdot 10^{-20}"), ("0.0000000000001", "0.0000000000002"), ("0", r"10^{-20}")),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\3\end{pmatrix}"),
    *(("", "5"), ("5", ""), (r"\frac{", r"\frac{"), ("__import__('os')", "1"), (r"\text{yes}", r"\text{no}")),
]


@pytest.mark.parametrize(("gold", "answer"), EQUAL)
def test_expressions_that_are_equal(gold: str, answer: str) -> None:
    assert equivalent(gold, answer)
    assert equivalent(answer, gold)


@pytest.mark.parametrize(("gold", "answer"), UNEQUAL)
def test_expressions_that_are_not_proven_equal(gold: str, answer: str) -> None:
    assert not equivalent(gold, answer)
    assert not equivalent(answer, gold)


def test_no_text_is_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text in ("open('x','w')", "exec(open('x','w'))", "__import__('os').mkdir('x')", "1 if open('x','w') else 2"):
        equivalent(text, "1")
        equivalent("1", text)
    assert not list(tmp_path.iterdir())
