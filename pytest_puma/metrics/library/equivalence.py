r"""Equivalence of two mathematical expressions in LaTeX: `\frac{1}{2}` and `0.5`, `(x+1)^2` and `x^2+2x+1`.

`math_match` calls it in a process of its own, as some comparisons never end. It imports nothing of this package.

The parser is that of math-verify: it reads by a grammar, knows sets, intervals, units and per cent, and needs no
certain version of the ANTLR runtime, unlike that of SymPy. Its parser of plain expressions is not used: it evaluates
Python code. Its time limits are not used either: they need the main thread.
"""

from __future__ import annotations

from typing import Any

#: Decimals to which numbers must agree. The default of math-verify, 6, makes 1e-7 equal to 2e-7.
_DECIMALS = 12
#: Below it, decimals cannot distinguish numbers, so that only a proof counts.
_TINY = 1e-6


def equivalent(gold: str, answer: str) -> bool:
    """Return True if two expressions are proven equal; False also for one that is no LaTeX."""
    from math_verify import verify

    golds, answers = _parsed(gold), _parsed(answer)
    if not golds or not answers:
        return False
    if _is_tiny(golds[0]) and _is_tiny(answers[0]):
        return bool((golds[0] - answers[0]).equals(0))
    return bool(verify(golds, answers, float_rounding=_DECIMALS, timeout_seconds=None))


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
