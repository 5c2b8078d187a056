r"""Comparisons that may never end: of two mathematical expressions, and of a value with a JSON schema.

Metrics call them in a process of its own, which loads this file alone: it imports nothing of this package.

Expressions are in LaTeX: `\frac{1}{2}` equals `0.5`, `(x+1)^2` equals `x^2+2x+1`. The parser is that of math-verify: it
reads by a grammar, knows sets, intervals, units and per cent, and needs no certain version of the ANTLR runtime, unlike
that of SymPy. Its parser of plain expressions is not used: it evaluates Python code. Its time limits are not used
either: they need the main thread.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

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
    from sympy import Float

    golds, answers = _parsed(gold), _parsed(answer)
    if not golds or not answers:
        return False if answers else "unreadable"
    if _is_rational(golds[0]) and _is_rational(answers[0]):
        return bool(golds[0].doit() == answers[0].doit())
    has_decimals = any(expression.has(Float) for expression in (golds[0], answers[0]))
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


def validate(value_text: str, schema_text: str) -> bool | str:
    """Return whether a value fulfils a schema, both as JSON; a text that says what is wrong with the schema."""
    from jsonschema import SchemaError
    from referencing.exceptions import Unresolvable

    try:
        return bool(_validator(schema_text).is_valid(json.loads(value_text)))
    except Unresolvable as error:
        return f"refers to {error.ref!r}, which is not in it, and nothing is fetched; put it in"
    except (SchemaError, re.error) as error:
        problem = error.message if isinstance(error, SchemaError) else error
        return f"is invalid: {problem}; expected a schema of json-schema.org"
    except RecursionError:
        # A value of hundreds of brackets, as models repeat them.
        return False


@lru_cache(maxsize=256)
def _validator(schema_text: str) -> Validator:
    """The validator of a schema; the cache makes the check of the schema once for all samples."""
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for
    from jsonschema_specifications import REGISTRY

    _count_in_decimals()
    schema = json.loads(schema_text)
    kind = validator_for(schema, default=validator_for(Draft202012Validator.META_SCHEMA))
    kind.check_schema(schema)
    validator: Validator = kind(schema, registry=REGISTRY, format_checker=kind.FORMAT_CHECKER)
    try:
        validator.is_valid(None)
    except RecursionError as error:
        msg = "it refers to itself for the same value"
        raise SchemaError(msg) from error
    return validator


@cache
def _count_in_decimals() -> None:
    """Let the validators of all drafts test multiples in decimals, of schemas within a schema, too."""
    import jsonschema
    from jsonschema.validators import extend, validates

    for draft in ("3", "4", "6", "7", "201909", "202012"):
        keyword = "divisibleBy" if draft == "3" else "multipleOf"
        kind = extend(getattr(jsonschema, f"Draft{draft}Validator"), {keyword: _multiple_of})  # type: ignore[no-untyped-call]
        validates(f"draft{draft}")(kind)


def _multiple_of(validator: Validator, unit: float, value: Any, _: Any) -> Iterator[ValidationError]:
    """Fail for a number that is no multiple of `unit`: in floating point, 0.07 is none of 0.01."""
    from jsonschema import ValidationError

    if validator.is_type(value, "number") and not _is_multiple(value, unit):
        yield ValidationError(f"{value!r} is not a multiple of {unit}")


def _is_multiple(value: float, unit: float) -> bool:
    """Whether the decimal that JSON has for a number is a multiple of that of a unit; infinity, from 1e999, is none."""
    try:
        return Fraction(str(value)) % Fraction(str(unit)) == 0
    except ValueError:
        return False
