r"""Equivalence of two mathematical expressions in LaTeX: `\frac{1}{2}` and `0.5`, `(x+1)^2` and `x^2+2x+1`.

`math_match` calls it in a process of its own, as some comparisons never end. It imports nothing of this package.

The parser is that of math-verify: it reads by a grammar, knows sets, intervals, units and per cent, and needs no
certain version of the ANTLR runtime, unlike that of SymPy. Its parser of plain expressions is not used: it evaluates
Python code. Its time limits are not used either: they need the main thread.
"""

from __future__ import annotations

from typing import Any

#: Decimals to which numbers must agree if one has decimals. The default of math-verify, 6, makes 1e-7 equal to 2e-7.
_DECIMALS = 12
#: Below it, decimals cannot distinguish numbers, so that only a proof counts.
_TINY = 1e-6
#: Digits to which numbers must agree: math-verify takes smaller differences, also of parts of a sum, for 0. Decimals
#: have no more than 15.
_DIGITS, _DIGITS_OF_DECIMALS = 300, 15


def equivalent(gold: str, answer: str) -> bool | str:
    """Return True if two expressions are proven equal; "unreadable" for an answer that is no LaTeX."""
    from math_verify import verify

    golds, answers = _parsed(gold), _parsed(answer)
    if not golds or not answers:
        return False if answers else "unreadable"
    if _is_rational(golds[0]) and _is_rational(answers[0]):
        return bool(golds[0].doit() == answers[0].doit())
    has_decimals = _has_decimals(golds[0]) or _has_decimals(answers[0])
    if has_decimals and _is_tiny(golds[0]) and _is_tiny(answers[0]):
        return bool((golds[0] - answers[0]).equals(0))
    digits = _DIGITS_OF_DECIMALS if has_decimals else _DIGITS
    return bool(verify(golds, answers, float_rounding=_DECIMALS, numeric_precision=digits, timeout_seconds=None))


def _is_rational(expression: Any) -> bool:
    """Whether an expression of whole numbers is a fraction, so that no approximation is needed; per cent is none."""
    from sympy import Rational, UnevaluatedExpr

    return (
        bool(getattr(expression, "is_number", False))
        and all(atom.is_Rational for atom in expression.atoms())
        and not expression.has(UnevaluatedExpr)
        and isinstance(expression.doit(), Rational)
    )


def _has_decimals(expression: Any) -> bool:
    from sympy import Float

    return bool(expression.has(Float))


def _is_tiny(expression: Any) -> bool:
    """Whether an expression is a number close to 0."""
    return bool(getattr(expression, "is_number", False)) and bool(abs(expression.doit().evalf()) < _TINY)


def _parsed(latex: str) -> list[Any]:
    from math_verify import LatexExtractionConfig, parse

    # The dollar signs make it find all of the text.
    expressions: list[Any] = parse(
        f"${latex}$",
        extraction_config=[LatexExtractionConfig()],
        fallback_mode="no_fallback",
        extraction_mode="first_match",
        parsing_timeout=None,
    )
    return expressions
