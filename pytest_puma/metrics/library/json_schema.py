"""JSON Schema: whether a value fulfils a schema. Nothing is fetched from a network."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pytest_puma.core import SettingsError

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def fulfils(value: Any, schema: Any, *, who: str) -> bool:
    """Whether a value fulfils a schema, formats included, by the draft that the schema names, else 2020-12.

    Raises a `SettingsError` that begins with `who` if the schema is invalid, or refers to one that is not in it.
    """
    from referencing.exceptions import Unresolvable

    try:
        return bool(_validator(json.dumps(schema)).is_valid(value))
    except Unresolvable as error:
        msg = f"{who}: the JSON schema refers to {error.ref!r}, which is not in it, and nothing is fetched; put it in"
        raise SettingsError(msg) from error
    except (_InvalidSchemaError, re.error) as error:
        msg = f"{who}: the JSON schema is invalid: {error}; expected a schema of json-schema.org"
        raise SettingsError(msg) from error
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

    schema = json.loads(schema_text)
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise _InvalidSchemaError(error.message) from error
    validator = kind(schema, registry=REGISTRY, format_checker=kind.FORMAT_CHECKER)
    try:
        validator.is_valid(None)
    except RecursionError as error:
        msg = "it refers to itself for the same value"
        raise _InvalidSchemaError(msg) from error
    return validator
