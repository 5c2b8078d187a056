"""JSON schemas as grammars: the rules, and what is refused. tests/engine/test_json_replies.py generates under them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.strategies.json_grammar import json_rules


def value_of(schema: Any) -> str:
    first, *_ = json_rules(schema, who="x")
    return first.removeprefix("value ::= ")


@pytest.mark.parametrize(
    ("schema", "rule"),
    [
        (True, "any"),
        ({}, "any"),
        ({"type": "integer", "title": "Total", "description": "in euros", "default": 3}, "integer"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"const": 'a"b'}, r'"\"a\\\"b\""'),
        ({"enum": ["EUR", 3, None, "ü"]}, r'"\"EUR\"" | "3" | "null" | "\"ü\""'),
        ({"type": "string", "enum": ["a"]}, r'"\"a\""'),
        ({"anyOf": [{"type": "number"}, {"type": "boolean"}]}, "number | boolean"),
        ({"type": "object"}, "object"),
        ({"type": "object", "additionalProperties": False}, '"{" space "}"'),
        ({"type": "object", "properties": {}, "required": []}, '"{" space "}"'),
        ({"type": "array"}, "array"),
        ({"type": "array", "maxItems": 0}, '"[" space "]"'),
        ({"type": "array", "items": {"type": "null"}}, '"[" space (null ("," space null){0,} space)? "]"'),
        (
            {"items": {"type": "null"}, "minItems": 2, "maxItems": 3},
            '"[" space null ("," space null){1,2} space "]"',
        ),
        ({"required": ["total"]}, r'"{" space ("\"total\":" space any) space "}"'),
    ],
)
def test_a_schema_becomes_a_rule(schema: Any, rule: str) -> None:
    assert value_of(schema) == rule


def test_members_keep_their_order_and_only_the_optional_ones_may_be_left_out() -> None:
    names = {name: {"type": "null"} for name in "abc"}
    a, b, c = (rf'"\"{name}\":" space null' for name in "abc")
    later_b, later_c = f'"," space {b}', f'"," space {c}'
    assert value_of({"properties": names, "required": ["b"]}) == (
        f'"{{" space ({a} {later_b} ({later_c})? | {b} ({later_c})?) space "}}"'
    )
    assert value_of({"properties": names}) == (
        f'"{{" space (({a} ({later_b})? ({later_c})? | {b} ({later_c})? | {c}) space)? "}}"'
    )


def test_a_reference_is_a_rule_of_its_own_and_may_contain_itself() -> None:
    tree = {"type": "array", "items": {"$ref": "#/$defs/a~1b"}, "maxItems": 2}
    rules = json_rules({"$ref": "#/$defs/a~1b", "$defs": {"a/b": tree}}, who="x")
    assert rules[:2] == ("value ::= ref-1", 'ref-1 ::= "[" space (ref-1 ("," space ref-1){0,1} space)? "]"')


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "string", "minLength": 3}, "the schema has 'minLength'; a grammar cannot express it: remove it"),
        ({"type": "string", "maxLength": 3}, "the schema has 'maxLength';"),
        ({"type": "string", "pattern": "^a$"}, "the schema has 'pattern';"),
        ({"type": "string", "format": "date"}, "the schema has 'format';"),
        ({"type": "integer", "minimum": 0}, "the schema has 'minimum';"),
        ({"pattern": "x"}, "the schema has 'pattern';"),
        ({"type": "string", "items": {}}, "the schema has 'items';"),
        ({"type": ["string", "array"], "uniqueItems": True}, "the schema has 'uniqueItems';"),
        ({"oneOf": [{"type": "null"}]}, "the schema has 'oneOf';"),
        ({"anyOf": [{"type": "null"}], "type": "null"}, "the schema has 'type' beside 'anyOf';"),
        ({"anyOf": [{}, {"allOf": []}]}, "the schema, anyOf 1 has 'allOf';"),
        ({"anyOf": []}, "the schema has 'anyOf': []; expected a list that is not empty"),
        ({"enum": "abc"}, "the schema has 'enum': 'abc'; expected a list"),
        ({"type": "integer", "enum": [1, True]}, "the schema has 'enum' with True and the type 'integer';"),
        ({"type": "text"}, "the schema has 'type': 'text'; expected one of object, array, string"),
        ({"type": ["string", "text"]}, "the schema has 'type': 'text';"),
        (False, "the schema is False; expected an object"),
        ({"properties": {"a": {"properties": {"b": "x"}}}}, "the schema, property 'a', property 'b' is 'x';"),
        ({"properties": {}, "additionalProperties": {}}, "the schema has a schema as 'additionalProperties';"),
        ({"items": {"type": "string", "pattern": "x"}}, "the schema, items has 'pattern';"),
        ({"prefixItems": [{}]}, "the schema has 'prefixItems';"),
        ({"type": "array", "minItems": 3, "maxItems": 2}, "the schema has 'minItems': 3 and 'maxItems': 2;"),
        ({"items": {}, "maxItems": 2001}, "the schema has 'minItems': 0 and 'maxItems': 2001; expected at most 2,000"),
        ({"type": "array", "minItems": -1}, "the schema has 'minItems': -1 and"),
        ({"$ref": "https://example.org/x"}, "the schema has '$ref': 'https://example.org/x'; expected a place in"),
        ({"$ref": "#/$defs/x"}, "the schema has '$ref': '#/$defs/x'; expected a place that exists"),
        ({"$ref": "#"}, "# has '$ref': '#', which stands for itself;"),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"anyOf": [{"$ref": "#"}]}}}, "# has '$ref': '#/$defs/x', which stands"),
        ({"const": {1}}, "which is no JSON"),
        ({"const": float("nan")}, "which is no JSON"),
    ],
)
def test_a_part_without_a_rule_is_an_error_that_names_it(schema: Any, fault: str) -> None:
    with pytest.raises(DataError) as caught:
        json_rules(schema, who="scenario 'invoices', row 7")
    assert str(caught.value).startswith("scenario 'invoices', row 7: its JSON schema ")
    assert fault in str(caught.value)
