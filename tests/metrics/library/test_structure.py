"""Replies in YAML, TOML and XML, and the keys of structured replies."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library.structure import has_key, read_xml
from tests.metrics.library.replies import score

#: Nine entities, each of ten of the one before: a gigabyte if they were expanded.
LAUGHS = (
    '<!DOCTYPE a [<!ENTITY e0 "ha">'
    + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    + "]><a>&e9;</a>"
)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("yaml.valid", "name: Anna\nage: 31", 1),
        ("yaml.valid", "- a\n- b", 1),
        ("yaml.valid", "Sure:\n```yaml\nname: Anna\n```\nDone.", 1),
        ("yaml.valid", "Anna is 31 years old.", 0),  # a string of YAML, as all prose is
        ("yaml.valid", "31", 0),
        ("yaml.valid", "", 0),
        ("yaml.valid", "{}", 0),
        ("yaml.valid", "name: [Anna", 0),
        ("yaml.valid", "a: 1\n b: 2", 0),
        ("yaml.valid", "when: 2024-13-45", 0),  # PyYAML's own errors do not cover these five
        ("yaml.valid", "a: !!bool maybe", 0),
        ("yaml.valid", "a: !!timestamp soon", 0),
        ("yaml.valid", "a: !!int ''", 0),
        ("yaml.valid", "[" * 5000, 0),
        ("yaml.valid", "a: !!python/object/apply:os.system ['true']", 0),
        ("toml.valid", 'name = "Anna"', 1),
        ("toml.valid", "```toml\n[a]\nb = 1\n```", 1),
        ("toml.valid", "", 0),  # a file without keys
        ("toml.valid", "# only a comment", 0),
        ("toml.valid", "name = Anna", 0),
        ("toml.valid", "Anna is 31.", 0),
        ("xml.valid", "<a><b/></a>", 1),
        ("xml.valid", '<?xml version="1.0" encoding="UTF-8"?>\n<a>é</a>', 1),
        ("xml.valid", "```xml\n<a/>\n```", 1),
        ("xml.valid", "<a>&lt;</a>", 1),
        ("xml.valid", "<a>\ud800</a>", 1),  # half a character, as a model may end with
        ("xml.valid", "<a><b></a>", 0),
        ("xml.valid", "<a/><b/>", 0),
        ("xml.valid", "a", 0),
        ("xml.valid", "", 0),
        ("xml.valid", LAUGHS, 0),
        ("xml.valid", '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>', 0),
    ],
)
def test_a_reply_is_in_a_format(name: str, text: str, value: int) -> None:
    assert score(name, text) == value


@given(text=st.text(st.sampled_from("!ab:-[]{}<>/&=\"' \n0.#*%@|\t") | st.characters(codec="utf-8"), max_size=20))
def test_any_text_has_a_score(text: str) -> None:
    for name in ("yaml.valid", "toml.valid", "xml.valid"):
        assert score(name, text) in {0, 1}
        assert score(name, f"a: !!float {text}") in {0, 1}


@pytest.mark.parametrize("tag", ["bool", "int", "float", "timestamp", "binary", "set", "omap", "pairs", "null", "map"])
@pytest.mark.parametrize("text", ["", "''", "x", "[]", "[1]", "{a: 1}", "é", "1_", "99999-01-01", "1e999", "[[1]]"])
def test_any_value_of_a_yaml_tag_has_a_score(tag: str, text: str) -> None:
    assert score("yaml.valid", f"a: !!{tag} {text}") in {0, 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<a/>", {"a": ""}),
        ("<a> x<b/> y</a>", {"a": {"b": ""}}),
        ("<a> x &amp; y </a>", {"a": "x & y"}),
        ('<a n="1"><b>x</b></a>', {"a": {"@n": "1", "b": "x"}}),
        ("<a><b>1</b><c/><b>2</b><b>3</b></a>", {"a": {"b": ["1", "2", "3"], "c": ""}}),
    ],
)
def test_xml_becomes_nested_values(text: str, expected: dict[str, Any]) -> None:
    assert read_xml(text) == expected


def test_xml_with_entities_of_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match="the text defines the entity 'e0'"):
        read_xml(LAUGHS)
    with pytest.raises(ValueError, match="mismatched tag"):
        read_xml("<a></b>")


# -- keys ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "keys", "format_", "value"),
    [
        ('{"a": {"b": null}}', ["a.b", "a", "c", "a.c"], "json", 1 / 2),
        ('So: {"items": [{"n": 1}, {"n": 2}]}', ["items.0.n", "items.1.n", "items.2.n", "items.n"], "json", 3 / 4),
        ('{"items": [{"n": 1}, {}]}', ["items.n", "items.0.n"], "json", 1 / 2),  # every element must have it
        ('{"items": []}', ["items", "items.n", "items.0"], "json", 1 / 3),
        ('{"a": 5}', ["a.b"], "json", 0),
        ('{"a": "text"}', ["a.t", "a.0"], "json", 0),
        ('{"0": 1}', ["0"], "json", 1),
        ('[{"a": 1}]', ["0.a", "a"], "json", 1),
        ("[[1], [2, 3]]", ["0.0", "1.1", "0.1"], "json", 2 / 3),
        ("no JSON", ["a"], "json", 0),
        ("a:\n  - b: 1", ["a.0.b"], "yaml", 1),
        ("a:\n  - b: 1", ["a.0.b"], "toml", 0),
        ("[a]\nb = 1", ["a.b", "a.c"], "toml", 1 / 2),
        ('<o id="7"><item>x</item><item>y</item></o>', ["o.@id", "o.item.1", "o.item.2", "o"], "xml", 3 / 4),
        ("name,age\nAnna,31\nBen,28", ["name", "age", "1.age", "town"], "csv", 3 / 4),
        ("name", ["name"], "csv", 0),
    ],
)
def test_the_share_of_keys_that_a_reply_has(text: str, keys: list[str], format_: str, value: float) -> None:
    assert score("keys", text, keys=keys, format=format_) == pytest.approx(value, abs=1e-12)


def test_the_format_is_json_by_default() -> None:
    assert score("keys", '{"a": 1}', keys=["a"]) == 1
    assert score("keys", "a: 1", keys=["a"]) == 0


def test_keys_none_does_not_apply() -> None:
    assert score("keys", '{"a": 1}', keys=None) is None


@pytest.mark.parametrize(
    "context", [{}, {"keys": []}, {"keys": "a"}, {"keys": [1]}, {"keys": [""]}, {"keys": ["a", ""]}]
)
def test_missing_and_invalid_keys_are_refused(context: dict[str, Any]) -> None:
    with pytest.raises(
        SettingsError, match=r"^keys: the context of sample 's1' has .* as 'keys'; expected a list of keys"
    ):
        score("keys", "{}", **context)


@pytest.mark.parametrize("format_", ["ini", 5, ["json"]])
def test_an_unknown_format_is_refused(format_: Any) -> None:
    with pytest.raises(
        SettingsError,
        match=r"^keys: the context of sample 's1' has .* as 'format'; expected one of json, yaml, toml, xml, csv;",
    ):
        score("keys", "{}", keys=["a"], format=format_)


NESTED = st.recursive(
    st.integers(),
    lambda values: st.dictionaries(st.sampled_from("abc"), values, min_size=1) | st.lists(values, min_size=1),
)


@given(value=NESTED, chosen=st.data())
def test_every_path_into_a_value_is_found(value: Any, chosen: st.DataObject) -> None:
    path, at = [], value
    while isinstance(at, (dict, list)):
        key = chosen.draw(st.sampled_from(sorted(at)) if isinstance(at, dict) else st.integers(0, len(at) - 1))
        path.append(str(key))
        at = at[key]
    assert has_key(value, path)
    assert not has_key(value, [*path, "x"])
