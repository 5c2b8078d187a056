"""JSON in a reply: readable, alone, of a schema, equal to a reference."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library.json_metrics import same
from tests.metrics.library.replies import score

NAMES = ("json.valid", "json.only", "json.schema", "json.equal")
TOTAL: dict[str, Any] = {"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=4), values, max_size=3),
    max_leaves=6,
)
PROSE = st.text(st.characters(exclude_characters="[]{}`~", codec="utf-8"), max_size=12)


@pytest.mark.parametrize(
    ("text", "valid", "only", "schema", "equal"),
    [
        ('{"total": 5}', 1, 1, 1, 1),
        ('```json\n{"total": 5}\n```', 1, 1, 1, 1),
        ('```json\n{"total": 5}', 1, 1, 1, 1),
        ('Sure:\n```json\n{"total": 5}\n```', 1, 0, 1, 1),
        ('The result is {"total": 5.0}.', 1, 0, 1, 1),
        ('{"a": 1} or {"total": 5}', 1, 0, 1, 1),  # the longest one
        ('[1, {"total": 5}]', 1, 1, 0, 0),  # what is inside another value is not looked at
        ('{"total": "5"}', 1, 1, 0, 0),
        ('{"total": true}', 1, 1, 0, 0),
        ('{"total": 5, "note": "x"}', 1, 1, 1, 0),
        ('{"total": 5', 0, 0, 0, 0),
        ('{"order": {"total": 5}', 1, 0, 1, 1),  # an object in one that is never closed
        ("5", 1, 1, 0, 0),
        ("total: 5", 0, 0, 0, 0),
        ("", 0, 0, 0, 0),
        ('{"total": NaN}', 0, 0, 0, 0),  # no JSON, though Python reads it
        ("{'total': 5}", 0, 0, 0, 0),
        ('{"total": 5} // euros', 1, 0, 1, 1),
        ("[" * 100_000, 0, 0, 0, 0),  # deeper than Python reads
        ("9" * 5000, 0, 0, 0, 0),  # more digits than Python reads
    ],
)
def test_the_json_of_a_reply(text: str, valid: int, only: int, schema: int, equal: int) -> None:
    values = [score(name, text, '{"total": 5}', json_schema=TOTAL) for name in NAMES]
    assert values == [valid, only, schema, equal]


def test_an_address_inside_a_string_stays_intact() -> None:
    text = '{"home": "https://example.org/a"} // see there'
    assert score("json.equal", text, '{"home": "https://example.org/a"}') == 1
    assert score("json.equal", text, '{"home": "https:"}') == 0
    assert score("json.only", '{"home": "https://example.org/a"}') == 1


def test_brackets_inside_a_string_end_nothing() -> None:
    assert score("json.equal", 'So: {"a": "}", "b": "]"} done', '{"a": "}", "b": "]"}') == 1


def test_the_first_of_equally_long_values_counts() -> None:
    assert score("json.equal", "[1] or [2]", "[1]") == 1
    assert score("json.equal", "[1] or [2]", "[2]") == 0


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', 1),
        ("[1, 2]", "[2, 1]", 0),
        ("[1]", "[1, 2]", 0),
        ("[1]", "[true]", 0),
        ("[0]", "[false]", 0),
        ("[true]", "[true]", 1),
        ("[1]", "[1.0]", 1),
        ('["1"]', "[1]", 0),
        ('{"a": [1]}', '{"a": [true]}', 0),
        ('{"a": 1}', '{"b": 1}', 0),
        ('{"a": 1}', "[1]", 0),
        ("[[]]", '[""]', 0),
        ("[null]", "[0]", 0),
    ],
)
def test_values_are_equal_as_json_has_it(left: str, right: str, equal: int) -> None:
    assert score("json.equal", left, right) == equal
    assert score("json.equal", right, left) == equal


def test_one_of_several_references_is_enough() -> None:
    assert score("json.equal", "[2]", "[1]", "[2]") == 1
    assert score("json.equal", "[2]") is None


@given(value=VALUES, other=VALUES, before=PROSE, after=PROSE)
def test_a_value_is_found_in_prose(value: Any, other: Any, before: str, after: str) -> None:
    text = json.dumps(value)
    assert score("json.only", text) == score("json.valid", text) == 1
    assert score("json.equal", f"```json\n{text}\n```", text) == 1
    if isinstance(value, (dict, list)):
        assert score("json.equal", f"{before}{text}{after}", text) == 1
    assert same(value, other) == same(other, value)
    assert same(value, json.loads(text))


# -- schemas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string", "format": "date"}, '"2024-02-30"', 0),  # formats are checked
        ({"type": "string", "format": "date"}, '"2024-02-29"', 1),
        ({"type": "string", "format": "date-time"}, '"yesterday"', 0),
        ({"type": "string", "format": "date-time"}, '"2024-02-29T10:00:00Z"', 1),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}, "5", 1),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}, '"5"', 0),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, '{"type": "object"}', 1),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, '{"type": "thing"}', 0),
        # By the draft that the schema names, else by 2020-12: in draft 4 `exclusiveMinimum` is true or false.
        ({"exclusiveMinimum": 5}, "5", 0),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 5, "exclusiveMinimum": True}, "5", 0),
        ({"prefixItems": [{"type": "string"}]}, "[1]", 0),
        (True, "5", 1),
        (False, "5", 0),
    ],
)
def test_a_reply_fulfils_a_schema(schema: Any, text: str, value: int) -> None:
    assert score("json.schema", text, json_schema=schema) == value


def test_a_value_deeper_than_python_checks_does_not_fulfil_a_schema() -> None:
    nested = {"$ref": "#/$defs/list", "$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}}}}
    assert score("json.schema", "[[[]]]", json_schema=nested) == 1
    assert score("json.schema", "[" * 500 + "]" * 500, json_schema=nested) == 0


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "thing"}, "the JSON schema is invalid: 'thing' is not valid under any of the given schemas"),
        ({"$ref": "#"}, "the JSON schema is invalid: it refers to itself for the same value"),
        ({"pattern": "("}, "the JSON schema is invalid: "),
        (
            {"$ref": "https://example.org/other.json"},
            "the JSON schema refers to 'https://example.org/other.json', which",
        ),
        (
            {"$ref": "#/$defs/absent"},
            "the JSON schema refers to '/$defs/absent', which is not in it, and nothing is fetched",
        ),
    ],
)
def test_an_unusable_schema_is_refused_and_nothing_is_fetched(schema: Any, fault: str) -> None:
    for _ in range(2):
        with pytest.raises(SettingsError) as caught:
            score("json.schema", '"x"', json_schema=schema)
        assert str(caught.value).startswith(f"json.schema, sample 's1': {fault}")


@pytest.mark.parametrize("keyword", ["pattern", "patternProperties"])
def test_a_pattern_that_never_ends_on_a_reply_is_named(keyword: str) -> None:
    schema: Any = {"anyOf": [{keyword: "^(a+)+$" if keyword == "pattern" else {"^(a+)+$": True}}]}
    text = json.dumps("a" * 40 + "!" if keyword == "pattern" else {"a" * 40 + "!": 1})
    with pytest.raises(SettingsError) as caught:
        score("json.schema", text, json_schema=schema)
    fault = f"needs over 5 seconds of computing, or 1 GiB, for the reply's {len(text)} characters of JSON"
    assert str(caught.value).startswith(f"json.schema, sample 's1': the JSON schema {fault}")
    assert str(caught.value).endswith("; those of the schema are: '^(a+)+$'")
    assert score("json.schema", '"aaa"', json_schema=schema) == 1


def test_multiples_are_those_of_decimals() -> None:
    price = {"type": "number", "multipleOf": 0.01}
    assert all(score("json.schema", f"{cents / 100:.2f}", json_schema=price) for cents in range(1, 10_001))


@pytest.mark.parametrize(
    ("unit", "text", "value"),
    [
        (0.01, "0.075", 0),
        (0.01, "0.3000000000000001", 0),
        (0.01, "1e300", 1),
        (0.01, "1e999", 0),  # too large for Python
        (0.01, "-19.99", 1),
        (1e-7, "0.0000003", 1),
        (1, "2.0", 1),
        (1, "2.5", 0),
        (7, "9" * 40, 0),
        (9, "9" * 40, 1),
        (0.01, "true", 1),  # no number
    ],
)
@pytest.mark.parametrize("draft", ["draft-03", "draft-04", "draft-07", "draft/2020-12"])
def test_multiples_in_every_draft_and_within_schemas(unit: float, text: str, value: int, draft: str) -> None:
    end = "" if "/" in draft else "#"
    start = "https://json-schema.org/" if "/" in draft else "http://json-schema.org/"
    keyword = "divisibleBy" if draft == "draft-03" else "multipleOf"
    # A schema that refers to itself is read again by the draft that it names.
    schema = {"$schema": f"{start}{draft}/schema{end}", keyword: unit, "items": {"$ref": "#"}}
    assert score("json.schema", text, json_schema=schema) == value
    assert score("json.schema", f"[{text}]", json_schema=schema) == value


@pytest.mark.parametrize("context", [{}, {"json_schema": "object"}, {"json_schema": []}])
def test_a_missing_schema_is_refused(context: dict[str, Any]) -> None:
    with pytest.raises(
        SettingsError,
        match=r"^json\.schema: the context of sample 's1' has .* as 'json_schema'; expected a JSON schema;",
    ):
        score("json.schema", "5", **context)


def test_a_reference_that_is_no_json_is_refused() -> None:
    with pytest.raises(
        SettingsError, match=r"^json\.equal: the reference '5 euros' of sample 's1' is no JSON; expected json\."
    ):
        score("json.equal", "5", "5 euros")


@pytest.mark.parametrize("name", NAMES)
def test_none_applies_to_samples_without_json(name: str) -> None:
    assert score(name, '{"total": 5}', "name,total", json_schema=None) is None
