r"""A JSON schema as a grammar in GBNF: each text of the grammar is JSON that fulfils the schema.

    {"type": "object", "required": ["total"], "properties": {"total": {"type": "integer"}}}

    value ::= "{" space "\"total\":" space integer space "}"

Supported: `type` (one or several), `properties`, `required`, `additionalProperties` true or false, `items`, `minItems`,
`maxItems`, `enum`, `const`, `anyOf`, `$ref` within the schema. Any other part that limits a value is an error that
names it, such as `pattern`. The grammar is narrower than the schema: keys come in the order of `properties`, and
only these; numbers have at most 15 digits before and after the point.

llama-cpp-python has a converter, too. It is not used: it skips parts that it does not know (`minimum`, `uniqueItems`),
so that a reply need not fulfil its schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.phrases import named

#: Keys that describe a value and do not limit it.
_NOTES = frozenset(
    {"$comment", "$defs", "$id", "$schema", "default", "definitions", "deprecated", "description", "examples", "title"}
)
#: The keys that limit values of a type.
_LIMITS: Mapping[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    **dict.fromkeys(("string", "integer", "number", "boolean", "null"), frozenset()),
}
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
#: llama.cpp refuses more repetitions.
_MAX_ITEMS = 2000
#: Rules that every grammar has. A model that may indent without end does so.
_RULES = {
    "space": '"" | " " | "\\n" [ \\t]{0,20}',
    "string": r'"\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""',
    "integer": '"-"? ("0" | [1-9] [0-9]{0,14})',
    "number": 'integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "any": "object | array | string | number | boolean | null",
    "object": '"{" space (string ":" space any ("," space string ":" space any)* space)? "}"',
    "array": '"[" space (any ("," space any)* space)? "]"',
}


def literal(text: str) -> str:
    """Return a text as a literal of GBNF."""
    escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n").replace("\r", r"\r")
    return f'"{escaped}"'


def json_rules(schema: Any, *, who: str) -> Sequence[str]:
    """Return the rules of a grammar; `value` is that of the schema.

    A `DataError` names a part of the schema that no rule expresses.
    """
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError) as error:
        msg = f"{who}: its JSON schema is {schema!r:.80}, which is no JSON: {error}"
        raise DataError(msg) from error
    rules = _converted(text)
    if isinstance(rules, str):
        msg = f"{who}: its JSON schema cannot become a grammar: {rules}"
        raise DataError(msg)
    return rules


@cache
def _converted(text: str) -> tuple[str, ...] | str:
    """The rules of a schema, or why it has none; a scenario has the same schema for each sample."""
    converter = _Converter(json.loads(text))
    try:
        rules = {"value": converter.rule(converter.schema, "the schema"), **converter.rules, **_RULES}
    except _Unsupported as error:
        return str(error)
    return tuple(f"{name} ::= {rule}" for name, rule in rules.items())


class _Unsupported(ValueError):  # noqa: N818 - what a schema has
    """A part of a schema that has no rule."""


class _Converter:
    """The rules of one schema; `rules` are those of its references."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.rules: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def rule(self, schema: Any, place: str, beside: frozenset[str] = frozenset()) -> str:
        """The right side of a rule; `beside`: the references that stand for this schema as a whole."""
        if schema is True or schema == {}:
            return "any"
        if not isinstance(schema, dict):
            _refuse(place, f"is {schema!r}", "expected an object")
        limits = schema.keys() - _NOTES
        for key in ("$ref", "anyOf", "const", "enum"):
            if key in limits:
                alone = {key, "type"} if key in {"const", "enum"} else {key}
                _only(limits, alone, place, f"beside {key!r}")
                return self._special(key, schema, place, beside)
        types = schema.get("type", self._implied(limits))
        if isinstance(types, list) and types:
            _only(limits, frozenset({"type"}).union(*(_LIMITS[kind] for kind in types if kind in _LIMITS)), place)
            return _either(self._of_type(kind, schema, place) for kind in types)
        _only(limits, {"type", *_LIMITS.get(str(types), ())}, place)
        return self._of_type(types, schema, place)

    @staticmethod
    def _implied(limits: frozenset[str] | set[str]) -> str | None:
        """The type whose keys a schema without a type has."""
        return next((kind for kind, keys in _LIMITS.items() if limits & keys), None)

    def _special(self, key: str, schema: dict[str, Any], place: str, beside: frozenset[str]) -> str:
        value = schema[key]
        if key == "$ref":
            return self._reference(value, place, beside)
        if key == "const":
            value = [value]
        if not isinstance(value, list) or not value:
            _refuse(place, f"has {key!r}: {value!r}", "expected a list that is not empty")
        if key == "anyOf":
            return _either(self.rule(part, f"{place}, anyOf {n}", beside) for n, part in enumerate(value))
        for entry in value:
            if "type" in schema and not _is_of(entry, schema["type"]):
                _refuse(
                    place, f"has {key!r} with {entry!r} and the type {schema['type']!r}", "expected one of the type"
                )
        return _either(literal(json.dumps(entry, ensure_ascii=False)) for entry in value)

    def _reference(self, pointer: Any, place: str, beside: frozenset[str]) -> str:
        if not isinstance(pointer, str) or not pointer.startswith("#"):
            _refuse(place, f"has '$ref': {pointer!r}", "expected a place in the same schema, as '#/$defs/item'")
        if pointer in beside:
            _refuse(place, f"has '$ref': {pointer!r}, which stands for itself", "expected a value")
        target = self.schema
        for part in pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(target, dict) or key not in target:
                _refuse(place, f"has '$ref': {pointer!r}", "expected a place that exists")
            target = target[key]
        if pointer not in self._names:
            name = self._names[pointer] = f"ref-{len(self._names) + 1}"
            self.rules[name] = self.rule(target, pointer, beside | {pointer})
        return self._names[pointer]

    def _of_type(self, kind: Any, schema: dict[str, Any], place: str) -> str:
        if kind not in _LIMITS:
            _refuse(place, f"has 'type': {kind!r}", f"expected one of {named(_LIMITS)}")
        if kind == "object" and schema.keys() & {"properties", "required"}:
            return self._object(schema, place)
        if kind == "object" and schema.get("additionalProperties") is False:
            return '"{" space "}"'
        return self._array(schema, place) if kind == "array" and schema.keys() & _LIMITS["array"] else str(kind)

    def _object(self, schema: dict[str, Any], place: str) -> str:
        """The members in their order; any of the first optional ones may be the first, after a comma follows."""
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(schema.get("additionalProperties", True), bool):
            _refuse(place, "has a schema as 'additionalProperties'", "expected true or false")
        if not properties and not required:
            return '"{" space "}"'
        named_only = {name: True for name in required if name not in properties}
        members = [
            (f"{literal(json.dumps(name, ensure_ascii=False) + ':')} space {_grouped(rule)}", name in required)
            for name, part in {**properties, **named_only}.items()
            for rule in [self.rule(part, f"{place}, property {name!r}")]
        ]
        later = [f'"," space {rule}' if needed else f'("," space {rule})?' for rule, needed in members]
        optional = len([*takewhile(lambda member: not member[1], members)])
        firsts = [" ".join([members[n][0], *later[n + 1 :]]) for n in range(min(optional + 1, len(members)))]
        inside = f"({' | '.join(firsts)}) space" if firsts else ""
        return f'"{{" space {inside if optional < len(members) else f"({inside})?"} "}}"'

    def _array(self, schema: dict[str, Any], place: str) -> str:
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        if (
            not isinstance(least, int)
            or not isinstance(most, int | None)
            or not 0 <= least <= (least if most is None else most)
        ):
            _refuse(place, f"has 'minItems': {least!r} and 'maxItems': {most!r}", "expected numbers in this order")
        if max(least, most or 0) > _MAX_ITEMS:
            _refuse(place, f"has 'minItems': {least} and 'maxItems': {most}", f"expected at most {_MAX_ITEMS:,}")
        if most == 0:
            return '"[" space "]"'
        item = _grouped(self.rule(schema.get("items", True), f"{place}, items"))
        more = f"{{{max(least - 1, 0)},{'' if most is None else most - 1}}}"
        inside = f'{item} ("," space {item}){more} space'
        return f'"[" space {inside if least else f"({inside})?"} "]"'


def _refuse(place: str, found: str, expected: str) -> None:
    msg = f"{place} {found}; {expected}"
    raise _Unsupported(msg)


def _only(limits: Any, supported: Any, place: str, where: str = "") -> None:
    """Refuse a key that limits values in an unsupported way."""
    if unknown := sorted(limits - supported):
        _refuse(place, f"has {unknown[0]!r}{f' {where}' if where else ''}", "a grammar cannot express it: remove it")


def _is_of(value: Any, kinds: Any) -> bool:
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return any(
        isinstance(value, _TYPES.get(kind, ())) and (kind == "boolean" or not isinstance(value, bool)) for kind in kinds
    )


def _either(rules: Iterator[str]) -> str:
    return " | ".join(map(_grouped, rules))


def _grouped(rule: str) -> str:
    return f"({rule})" if " " in rule else rule
