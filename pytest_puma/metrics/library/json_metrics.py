"""Metrics of replies in JSON: `json.valid`, `json.only`, `json.schema`, `json.equal`.

context = {"json_schema": {"type": "object", "required": ["total"]}}

`json_schema` None: this sample's reply is no JSON, so none of them applies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_puma.core import Metric, Prediction, Sample, SettingsError
from pytest_puma.metrics.library import json_schema, json_text
from pytest_puma.metrics.library.arguments import argument
from pytest_puma.metrics.library.json_text import NoJson

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
    return float(json_schema.fulfils(value, wanted, who=f"json.schema, sample {sample.id!r}"))


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


def _where_json(
    score: Callable[[Sample, Prediction], float | None],
) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function that does not apply to samples whose `json_schema` is None."""

    def of_json(sample: Sample, prediction: Prediction) -> float | None:
        return None if sample.context.get(_SCHEMA, "") is None else score(sample, prediction)

    return of_json


_COMPLETION = frozenset({"completion"})

METRICS = (
    Metric(name="json.valid", score=_where_json(valid), kinds=_COMPLETION),
    Metric(name="json.only", score=_where_json(only), kinds=_COMPLETION),
    Metric(name="json.schema", score=_where_json(schema), kinds=_COMPLETION, extra="json"),
    Metric(name="json.equal", score=_where_json(equal), kinds=_COMPLETION),
)
