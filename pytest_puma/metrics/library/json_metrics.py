"""Metrics of replies in JSON: `json.valid`, `json.only`, `json.schema`, `json.equal`.

context = {"json_schema": {"type": "object", "required": ["total"]}}

`json_schema` None: this sample's reply is no JSON, so none of them applies.

The JSON of a reply is the whole text, with or without a Markdown fence, or the longest object or array in it. Numbers
that JSON lacks, as NaN, are not read. The text of strings stays as it is, so `https://` is no comment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from pytest_puma.core import Prediction, Sample, SettingsError
from pytest_puma.metrics.library.reading import argument, completion_metric
from pytest_puma.phrases import named
from pytest_puma.platform.processes import SECONDS, BoundedFunction
from pytest_puma.replies.fences import unfenced

#: From a sample to the check of the JSON in its reply; None if the metric does not apply.
_Check: TypeAlias = Callable[[Sample], "Callable[[Any], bool] | None"]

_SCHEMA = "json_schema"
#: The beginning of an object or array. Each failure of the decoder counts the lines before it.
_OPENING = re.compile(r"""\{(?=\s*["}])|\[(?=\s*[]\[{"\d\-tfn])""")
_validate = BoundedFunction(Path(__file__).with_name("bounded.py"), "validate", ("0.07", '{"multipleOf": 0.01}'))


class NoJson(ValueError):  # noqa: N818 - an answer of the reader, which metrics turn into a score
    """A text without JSON."""


def whole(text: str) -> Any:
    """Return the value that the whole text is. Raises `NoJson` if it is none."""
    try:
        return _DECODER.decode(unfenced(text))
    except (ValueError, RecursionError) as error:
        raise NoJson(text) from error


def within(text: str) -> Any:
    """Return the value that the whole text is, else the longest object or array in it; the first of equally long ones.

    Raises `NoJson` if there is none.
    """
    try:
        return whole(text)
    except NoJson:
        values = _values(text)
        if not values:
            raise
        return max(values, key=lambda pair: pair[0])[1]


def _values(text: str) -> list[tuple[int, Any]]:
    """The objects and arrays of a text that are in no other one, each after the number of its characters.

    None of a text with thousands of nested brackets: to try each of them as the first would take minutes.
    """
    values, position = [], 0
    while opening := _OPENING.search(text, position):
        start = opening.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
        except ValueError:
            position = start + 1
        except RecursionError:
            return []
        else:
            values.append((position - start, value))
    return values


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal in JSON: 1 is 1.0, but not true; the order of keys does not matter."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _any(_: Sample) -> Callable[[Any], bool]:
    return lambda _: True


def _schema(sample: Sample) -> Callable[[Any], bool]:
    """The check that a value fulfils the context's `json_schema`."""
    form = dict[str, Any] | bool
    schema = argument(sample, _SCHEMA, form, metric="json.schema", expected="a JSON schema")
    return lambda value: fulfils(value, schema, who=f"json.schema, sample {sample.id!r}")


def _equal(sample: Sample) -> Callable[[Any], bool] | None:
    """The check that a value equals that of a reference; None without references."""
    wanted = [_reference(sample, reference) for reference in sample.references]
    return (lambda value: any(same(value, reference) for reference in wanted)) if wanted else None


def _reference(sample: Sample, reference: str) -> Any:
    try:
        return whole(reference)
    except NoJson as error:
        msg = (
            f"json.equal: the reference {reference!r} of sample {sample.id!r} is no JSON; expected json.dumps(...) of "
            f"the value from truth(item), or {_SCHEMA!r}: None in the context if the reply is no JSON"
        )
        raise SettingsError(msg) from error


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
    fulfilled: bool | str | None = _validate(value_text, json.dumps(schema))
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


def _refuse(number: str) -> NoReturn:
    msg = f"{number} is no number of JSON"
    raise ValueError(msg)


def _score(check_of: _Check, read: Callable[[str], Any] = within) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function of a check: 0 without JSON, None for a sample whose `json_schema` is None."""

    def score(sample: Sample, prediction: Prediction) -> float | None:
        check = None if sample.context.get(_SCHEMA, "") is None else check_of(sample)
        if check is None:
            return None
        try:
            return float(check(read(prediction.text)))
        except NoJson:
            return 0.0

    return score


_DECODER = json.JSONDecoder(parse_constant=_refuse)

METRICS = (
    completion_metric(name="json.valid", score=_score(_any)),
    completion_metric(name="json.only", score=_score(_any, read=whole)),
    completion_metric(name="json.schema", score=_score(_schema), extra="json"),
    completion_metric(name="json.equal", score=_score(_equal)),
)
