"""Metrics of replies in JSON: `json.valid`, `json.only`, `json.schema`, `json.equal`.

context = {"json_schema": {"type": "object", "required": ["total"]}}

`json_schema` None: this sample's reply is no JSON, so none of them applies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from pytest_puma.core import Metric, Prediction, Sample, SettingsError
from pytest_puma.metrics.library import json_text
from pytest_puma.metrics.library.arguments import argument
from pytest_puma.metrics.library.json_text import NoJson
from pytest_puma.phrases import named
from pytest_puma.platform.processes import SECONDS, BoundedFunction

_SCHEMA = "json_schema"


def only(_: Sample, prediction: Prediction) -> float:
    """Return 1 if the whole reply is JSON, with or without a Markdown fence."""
    return _readable(json_text.whole, prediction.text)


def valid(_: Sample, prediction: Prediction) -> float:
    """Return 1 if the reply is JSON, or an object or array is in it."""
    return _readable(json_text.within, prediction.text)


def schema(sample: Sample, prediction: Prediction) -> float:
    """Return 1 if the JSON in the reply fulfils the context's `json_schema`."""
    wanted = argument(sample, _SCHEMA, metric="json.schema", expected="a JSON schema", valid=_is_schema)
    try:
        value = json_text.within(prediction.text)
    except NoJson:
        return 0.0
    return float(fulfils(value, wanted, who=f"json.schema, sample {sample.id!r}"))


def equal(sample: Sample, prediction: Prediction) -> float | None:
    """Return 1 if the JSON in the reply equals that of a reference; None without references."""
    wanted = [_reference(sample, reference) for reference in sample.references]
    if not wanted:
        return None
    try:
        value = json_text.within(prediction.text)
    except NoJson:
        return 0.0
    return float(any(json_text.same(value, each) for each in wanted))


def _reference(sample: Sample, reference: str) -> Any:
    try:
        return json_text.whole(reference)
    except NoJson as error:
        msg = (
            f"json.equal: the reference {reference!r} of sample {sample.id!r} is no JSON; expected json.dumps(...) of "
            f"the value from truth(item), or {_SCHEMA!r}: None in the context if the reply is no JSON"
        )
        raise SettingsError(msg) from error


def _readable(read: Callable[[str], Any], text: str) -> float:
    try:
        read(text)
    except NoJson:
        return 0.0
    return 1.0


def _is_schema(value: Any) -> bool:
    return isinstance(value, (dict, bool))


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
    patterns = named(map(repr, dict.fromkeys(_patterns(schema))))
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


def _where_json(
    score: Callable[[Sample, Prediction], float | None],
) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function that does not apply to samples whose `json_schema` is None."""

    def of_json(sample: Sample, prediction: Prediction) -> float | None:
        return None if sample.context.get(_SCHEMA, "") is None else score(sample, prediction)

    return of_json


_METRIC = partial(Metric, kinds=frozenset({"completion"}))

METRICS = (
    _METRIC(name="json.valid", score=_where_json(valid)),
    _METRIC(name="json.only", score=_where_json(only)),
    _METRIC(name="json.schema", score=_where_json(schema), extra="json"),
    _METRIC(name="json.equal", score=_where_json(equal)),
)
