"""JSON Schema: whether a value fulfils a schema. Nothing is fetched from a network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pytest_puma.core import SettingsError
from pytest_puma.platform.bounded_function import SECONDS, BoundedFunction


def fulfils(value: Any, schema: Any, *, who: str) -> bool:
    """Whether a value fulfils a schema, formats included, by the draft that the schema names, else 2020-12.

    Raises a `SettingsError` that begins with `who` if the schema is invalid, refers to one that is not in it, or has a
    pattern that does not end on this value.
    """
    try:
        value_text = json.dumps(value)
    except RecursionError:
        # A value of hundreds of brackets, as models repeat them.
        return False
    fulfilled: bool | str | None = _validation()(value_text, json.dumps(schema))
    if isinstance(fulfilled, bool):
        return fulfilled
    msg = f"{who}: the JSON schema {_endless(value_text, schema) if fulfilled is None else fulfilled}"
    raise SettingsError(msg)


def _endless(value_text: str, schema: Any) -> str:
    patterns = ", ".join(map(repr, dict.fromkeys(_patterns(schema)))) or "none"
    return (
        f"needs over {SECONDS} seconds of computing, or 1 GiB, for the reply's {len(value_text)} characters of JSON; "
        f"expected patterns without repetitions of a repetition, as (a+)+ is one; those of the schema are: {patterns}"
    )


def _patterns(schema: Any) -> Iterator[str]:
    """The regular expressions of a schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        if isinstance(schema.get("patternProperties"), dict):
            yield from schema["patternProperties"]
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, (list, tuple)) else ():
        yield from _patterns(part)


@cache
def _validation() -> BoundedFunction:
    return BoundedFunction(Path(__file__).with_name("json_validation.py"), "validate", ("0.07", '{"multipleOf": 0.01}'))
