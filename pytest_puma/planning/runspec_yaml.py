"""Reading of a run-spec file: from YAML to the values of known keys, each with its line.

A file holds one mapping, a list of them, or several documents. `null` or an empty list is a key left out, and
`inference.seed: 42` is `inference: {seed: 42}`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import yaml

from pytest_puma.core import SettingsError
from pytest_puma.evaluation.cell import MAX_SEED
from pytest_puma.phrases import shown, there_are

T = TypeVar("T")
#: A kind of value: in words, and as a test.
_Kind: TypeAlias = tuple[str, Callable[[Any], bool]]

_SECTION: _Kind = ("keys with values, indented", lambda _: False)
_TEXT: _Kind = ("text, in quotes where YAML takes it for something else", lambda it: isinstance(it, str))
_FLAG: _Kind = ("true or false", lambda it: isinstance(it, bool))
# isinstance would take true and false for whole numbers.
_WHOLE: _Kind = ("a whole number from 0", lambda it: type(it) is int and 0 <= it <= MAX_SEED)
_COUNT: _Kind = ("a whole number from 1", lambda it: type(it) is int and it >= 1)
_HEAT: _Kind = ("a number from 0 (greedy) to 100", lambda it: type(it) in {int, float} and 0 <= it <= 100)  # noqa: PLR2004
_ANY: _Kind = ("anything", lambda _: True)

#: All keys. `[kind]` is a list; a single value may stand for it.
_KEYS: Mapping[str, _Kind | list[_Kind]] = {
    "id": _TEXT,
    "description": _TEXT,
    "scenario": _TEXT,
    "sample_size": _COUNT,
    "subjects": [_TEXT],
    "models": [_TEXT],
    "variants": [_TEXT],
    "judge": [_TEXT],
    "adaptation": _SECTION,
    "adaptation.strategy": [_TEXT],
    "adaptation.cot": [_FLAG],
    "inference": _SECTION,
    "inference.temperature": _HEAT,
    "inference.seed": _WHOLE,
    "inference.max_tokens": _COUNT,
    "inference.logprobs": _FLAG,
    "inference.top_logprobs": _WHOLE,
    "inference.format": _ANY,
    "perturbations": [_TEXT],
    "metrics": [_TEXT],
    "sustainability": _FLAG,
    "sustainability.codecarbon": _FLAG,
    "sustainability.country_iso": _TEXT,  # whose power codecarbon assumes: without codecarbon it asks for nothing
    "repeat": _COUNT,
    "retries": _WHOLE,
    "profile_required": _ANY,
    "gates": [_TEXT],
}
_SECTIONS = {path.partition(".")[0] for path in _KEYS if "." in path}
_REQUIRED = {"scenario": "scenario: triage_jira", "adaptation.strategy": "adaptation: {strategy: [zero_shot]}"}

#: Keys of PUMA whose effect does not exist here: their values without effect; the reason, and what to do instead.
_REFUSED: Mapping[str, tuple[tuple[Any, ...], str]] = {
    "inference.top_logprobs": ((0,), "whole labels' probabilities come from the strategy option_scoring"),
    "inference.format": (("", "text"), "replies are plain text; the scenario's template may ask for another form"),
    "sustainability": ((False,), "energy is not measured; measure the pytest process from outside"),
    "sustainability.codecarbon": ((False,), "energy is not measured; measure the pytest process from outside"),
    "profile_required": ((False, ""), "there are no hardware profiles; name models that fit with --puma-model"),
}

#: The nodes of the values of each key, by its dotted path. A node knows its line.
Values: TypeAlias = Mapping[str, Sequence[yaml.Node]]


def read_values(spec: yaml.Node) -> Values:
    """Return the values of a spec. A `SettingsError` names the line of a wrong key or value."""
    if not isinstance(spec, yaml.MappingNode):
        raise error_at(spec, f"found {_written(spec)}; expected a spec, as in 'scenario: triage_jira'")
    values = {path: nodes for path, node in _keys(spec, {}) if (nodes := _values(path, node))}
    for path, example in _REQUIRED.items():
        if path not in values:
            raise error_at(spec, f"the spec has no {path}; expected one, as in '{example}'")
    return values


def _keys(mapping: yaml.MappingNode, lines: dict[str, int], section: str = "") -> Iterator[tuple[str, yaml.Node]]:
    """Yield every value with its dotted path. Unknown and repeated keys are errors; `lines` collects the paths."""
    for key, value in mapping.value:
        path = section + (key.value if isinstance(key, yaml.ScalarNode) else _written(key))
        if path not in _KEYS:
            raise error_at(key, f"the key {path!r} is unknown; {_hint(path, _KEYS)}")
        if path in lines:
            raise error_at(key, f"the key {path!r} is there twice, first in line {lines[path]}; keep one")
        lines[path] = line_of(key)
        if path in _SECTIONS and isinstance(value, yaml.MappingNode):
            yield from _keys(value, lines, f"{path}.")
        elif content(value) is not None:
            yield path, value


def _values(path: str, node: yaml.Node) -> list[yaml.Node]:
    field = _KEYS[path]
    ((expected, holds),) = field if isinstance(field, list) else [field]
    nodes = node.value if isinstance(field, list) and isinstance(node, yaml.SequenceNode) else [node]
    for entry in nodes:
        value = content(entry)
        if not holds(value):
            raise error_at(entry, f"{path}: found {_written(entry)}; expected {expected}")
        neutral, instead = _REFUSED.get(path, ((value,), ""))
        if value not in neutral:
            raise error_at(entry, f"{path}: {_written(entry)} is not supported: {instead}; leave the key out here")
    return list(nodes)


def content(node: yaml.Node) -> Any:
    """Return the value of a scalar; a node without one, such as a list or the date 2026-13-01, stays a node."""
    try:
        return yaml.SafeLoader("").construct_object(node) if isinstance(node, yaml.ScalarNode) else node
    except (yaml.YAMLError, ValueError, ArithmeticError, AttributeError, LookupError):
        # PyYAML raises any of these for a tag that does not fit its value, as in `!!bool maybe`.
        return node


def _written(node: yaml.Node) -> str:
    """Return a value as written in the file."""
    start, end = node.start_mark, node.end_mark
    return textwrap.shorten((start.buffer or "")[start.pointer : end.pointer], 60) or "nothing"


def read_nodes(data: bytes) -> list[yaml.Node]:
    """Return the nodes of the specs. Bytes that are not UTF-8 become characters that YAML does not allow."""
    text = data.decode("utf-8-sig", "surrogateescape")
    try:
        nodes = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except RecursionError as error:
        raise error_at(1, "the file is nested too deeply; expected keys with values, as in a run-spec") from error
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(text, error) from error
    except yaml.reader.ReaderError as error:
        line, character = text.count("\n", 0, error.position) + 1, chr(error.character)
        raise error_at(line, f"found {character!r}; expected UTF-8 text without control characters") from error
    if specs := [spec for node in nodes for spec in (node.value if isinstance(node, yaml.SequenceNode) else [node])]:
        return specs
    raise error_at(1, "the file holds no spec; expected one, as in 'scenario: triage_jira'")


def _not_yaml(text: str, error: yaml.MarkedYAMLError) -> SettingsError:
    """Return the error with the line as written, and what to do about a tab or a colon."""
    line = error.problem_mark.line if error.problem_mark else 0
    written = (*text.splitlines(), "")[line]
    hint = ""
    if "\t" in written[: len(written) - len(written.lstrip())]:
        hint = "; indent with blanks in place of the tab"
    elif ": " in written.partition(": ")[2]:
        hint = "; write a text with a colon in quotes"
    quoted = f": {shown(written)}" if written.strip() else ""
    return error_at(line + 1, f"this is not YAML: {error.problem}{quoted}{hint}")


def read_at(node: yaml.Node, read: Callable[[str], T]) -> T:
    """Read the text of a node; a `SettingsError` gets its line."""
    try:
        return read(content(node))
    except SettingsError as error:
        raise error_at(node, str(error)) from error


def error_at(where: yaml.Node | int, sentence: str) -> SettingsError:
    """Return an error with the line of a node, or with a line."""
    return SettingsError(f"line {where if isinstance(where, int) else line_of(where)}: {sentence}")


def line_of(node: yaml.Node) -> int:
    """Return the line of a node, from 1."""
    return node.start_mark.line + 1


def _hint(name: str, keys: Collection[str]) -> str:
    """Return the likely key: one that ends with the name, as `inference.seed` for `seed`, else the most similar."""
    parent = next((key for key in keys if key.endswith(f".{name.rpartition('.')[2]}")), name)
    return there_are(parent, keys)
