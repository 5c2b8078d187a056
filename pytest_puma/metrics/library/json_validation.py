"""Validation of a value by a JSON schema, with the library jsonschema.

`json.schema` calls it in a process of its own, as some patterns never end. It imports nothing of this package.
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


def validate(value_text: str, schema_text: str) -> bool | str:
    """Return whether a value fulfils a schema, both as JSON; a text that says what is wrong with the schema."""
    from referencing.exceptions import Unresolvable

    try:
        return bool(_validator(schema_text).is_valid(json.loads(value_text)))
    except Unresolvable as error:
        return f"refers to {error.ref!r}, which is not in it, and nothing is fetched; put it in"
    except (_InvalidSchemaError, re.error) as error:
        return f"is invalid: {error}; expected a schema of json-schema.org"
    except RecursionError:
        # A value of hundreds of brackets, as models repeat them.
        return False


class _InvalidSchemaError(ValueError):
    pass


@lru_cache(maxsize=256)
def _validator(schema_text: str) -> Validator:
    """The validator of a schema; the cache makes the check of the schema once for all samples."""
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for
    from jsonschema_specifications import REGISTRY

    _count_in_decimals()
    schema = json.loads(schema_text)
    kind = validator_for(schema, default=validator_for(Draft202012Validator.META_SCHEMA))
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise _InvalidSchemaError(error.message) from error
    validator: Validator = kind(schema, registry=REGISTRY, format_checker=kind.FORMAT_CHECKER)
    try:
        validator.is_valid(None)
    except RecursionError as error:
        msg = "it refers to itself for the same value"
        raise _InvalidSchemaError(msg) from error
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
