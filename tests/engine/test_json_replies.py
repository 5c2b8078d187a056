"""Replies of a model with random weights under the grammar of a JSON schema: each that ends fulfils its schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from pytest_puma.core import Prompt
from pytest_puma.engine.engine import Engine
from pytest_puma.strategies.json_grammar import json_rules
from tests.engine.ask import generate
from tests.engine.cache import RecordedBackend
from tests.engine.conftest import OpenBackend
from tests.tiny_gguf import LLAMA_BOS, LLAMA_NO_BOS

#: Of the kinds that invoices, tool calls and lists of entities have; all end early whatever a model prefers.
SCHEMAS: dict[str, Any] = {
    "optional": {
        "type": "object",
        "properties": {"paid": {"type": "boolean"}, "total": {"type": "integer"}, "note": {"const": None}},
        "additionalProperties": False,
    },
    "nested": {
        "required": ["currency", "lines"],
        "properties": {
            "currency": {"enum": ["EUR", 'U"S\\D', "ü"]},
            "lines": {
                "type": "array",
                "minItems": 1,
                "maxItems": 2,
                "items": {"required": ["price"], "properties": {"price": {"type": "number"}}},
            },
        },
    },
    "either": {"anyOf": [{"type": ["null", "boolean"]}, {"type": "array", "items": {"type": "null"}, "maxItems": 1}]},
    "tree": {"$ref": "#/$defs/tree", "$defs": {"tree": {"items": {"$ref": "#/$defs/tree"}, "maxItems": 1}}},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_reply_fulfils_its_schema(open_backend: OpenBackend, name: str) -> None:
    grammar = "\n".join(['root ::= " "? value', *json_rules(SCHEMAS[name], who=name)])
    engine = Engine(open_backend(LLAMA_BOS))
    requests = [generate("Which?", 200, grammar=grammar, temperature=float(seed % 3), seed=seed) for seed in range(6)]
    replies = [reply.text for reply in engine.run(requests) if reply.finish == "stop"]
    assert replies
    for reply in replies:
        jsonschema.validate(json.loads(reply), SCHEMAS[name])


NOTE = {"type": "object", "required": ["note"], "properties": {"note": {"type": "string"}, "n": {"type": "number"}}}


def accepts(backend: RecordedBackend, schema: Any, text: str) -> bool:
    """Whether a reply under the grammar of the schema may be this text, and end behind it."""
    grammar = backend.grammar("\n".join(["root ::= value", *json_rules(schema, who="a test")]))
    try:
        for token in backend.encode(Prompt(messages=(), prefill=text, chat=False)):
            if not grammar.allows(token):
                return False
            grammar.accept(token)
        return grammar.allows(backend.ends_of_turn[0])
    finally:
        grammar.close()


@pytest.mark.parametrize(
    ("schema", "text", "accepted"),
    [
        (NOTE, '{"note":"a"}', True),
        (NOTE, '{"note": "a", "n": -1.5e3}', True),
        (NOTE, json.dumps({"note": 'a "quote", a \\, a\nline, \u00fc and \U0001f600', "n": 0}), True),
        (NOTE, json.dumps({"note": "\u00fc \U0001f600"}, ensure_ascii=False), True),
        (NOTE, json.dumps({"note": "a", "n": 1}, indent=4), True),
        (NOTE, '{"n": 1, "note": "a"}', False),
        (NOTE, '{"note": "a", "n": 01}', False),
        (NOTE, '{"note": "a\nb"}', False),
        (NOTE, '{"note": "a",}', False),
        (NOTE, '{"note": "a", "x": 1}', False),
        (NOTE, '{"note": 1}', False),
        (NOTE, "{}", False),
        (NOTE, '```json\n{"note": "a"}\n```', False),
        ({"items": {"type": "integer"}, "minItems": 2, "maxItems": 3}, "[1, 2, 3]", True),
        ({"items": {"type": "integer"}, "minItems": 2, "maxItems": 3}, "[1]", False),
        ({"items": {"type": "integer"}, "minItems": 2, "maxItems": 3}, "[1, 2, 3, 4]", False),
        ({"type": "array", "items": {}, "maxItems": 1}, '[{"a": [1, {"b": null}]}]', True),
        (SCHEMAS["optional"], "{}", True),
        (SCHEMAS["optional"], '{"paid": true, "note": null}', True),
        (SCHEMAS["optional"], '{"total": 3}', True),
        ({"properties": {}}, "{}", True),
        ({"items": {"type": "string"}, "maxItems": 0}, "[]", True),
        ({"items": {"type": "integer"}, "minItems": 1, "maxItems": 2000}, "[7]", True),
        ({"properties": {"start_line": {"type": "null"}, "end_line": {"type": "null"}}}, '{"end_line": null}', True),
        (SCHEMAS["tree"], "[[[]]]", True),
        (SCHEMAS["tree"], "[[], []]", False),
    ],
)
def test_the_grammar_of_a_schema_accepts_its_json_alone(
    open_backend: OpenBackend, schema: Any, text: str, *, accepted: bool
) -> None:
    assert accepts(open_backend(LLAMA_NO_BOS), schema, text) == accepted
