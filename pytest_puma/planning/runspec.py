"""Run-spec files: YAML that asks for cells, as the marker does. docs/run-specs.md says what each key does.

    scenario: triage_jira
    adaptation: {strategy: [zero-shot, few-shot-3]}
    inference: {temperature: 0, seed: 42}
    gates: ["f1_macro >= 0.45"]

A file holds one such mapping, a list of them, or several documents. `null` or an empty list is a key left out, and
`inference.seed: 42` is `inference: {seed: 42}`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from pytest_puma.core import Gate, Scenario, SettingsError
from pytest_puma.planning.matrix import make_scenario
from pytest_puma.planning.settings import BenchmarkSpec, Registry, RunOptions, Settings
from pytest_puma.run.cell import MAX_SEED

#: What a value may be, in words and as a test.
_Kind: TypeAlias = tuple[str, Callable[[Any], bool]]

_SECTION: _Kind = ("keys with values, indented", lambda _: False)
_TEXT: _Kind = ("text, in quotes where YAML takes it for something else", lambda it: isinstance(it, str))
_FLAG: _Kind = ("true or false", lambda it: isinstance(it, bool))
# isinstance would take true and false for whole numbers.
_WHOLE: _Kind = ("a whole number from 0", lambda it: type(it) is int and 0 <= it <= MAX_SEED)
_COUNT: _Kind = ("a whole number from 1", lambda it: type(it) is int and it >= 1)
_HEAT: _Kind = ("a number from 0 (greedy) to 100", lambda it: type(it) in {int, float} and 0 <= it <= 100)  # noqa: PLR2004
_ANY: _Kind = ("anything", lambda _: True)

#: Every key that may be written. `[kind]` is a list, for which a lone value may stand.
_FIELDS: Mapping[str, _Kind | list[_Kind]] = {
    "id": _TEXT,
    "description": _TEXT,
    "scenario": _TEXT,
    "sample_size": _COUNT,
    "subjects": [_TEXT],
    "models": [_TEXT],
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
    "profile_required": _ANY,
    "gates": [_TEXT],
}
_SECTIONS = {path.partition(".")[0] for path in _FIELDS if "." in path}
_REQUIRED = {"scenario": "scenario: triage_jira", "adaptation.strategy": "adaptation: {strategy: [zero_shot]}"}

#: Keys of PUMA with an effect that is not to be had here: the values that do not ask for it; why, and what to do.
_REFUSED: Mapping[str, tuple[tuple[Any, ...], str]] = {
    "inference.top_logprobs": ((0,), "whole labels' probabilities come from the strategy option_scoring"),
    "inference.format": (("", "text"), "replies are plain text; the scenario's template may ask for another form"),
    "sustainability": ((False,), "energy is not measured; measure the pytest process from outside"),
    "sustainability.codecarbon": ((False,), "energy is not measured; measure the pytest process from outside"),
    "profile_required": ((False, ""), "there are no hardware profiles; name models that fit with --puma-model"),
}

#: What a spec says: the nodes of a field's values, by its dotted path. A node knows its line.
_Said: TypeAlias = Mapping[str, Sequence[yaml.Node]]


def read_specs(path: Path, settings: Settings) -> dict[str, BenchmarkSpec]:
    """The requests of a file by their specs' ids in letters, digits and `_`; a `SettingsError` names the line."""
    stem = re.sub(r"(\.puma)?\.ya?ml$", "", path.name)
    requests: dict[str, BenchmarkSpec] = {}
    try:
        specs = _specs(path.read_bytes())
        for number, spec in enumerate(specs, 1):
            said = _read(spec)
            default = stem if len(specs) == 1 else f"{stem}_{number}"
            spelled = said["id"][0].value if "id" in said else default
            name = re.sub(r"\W+", "_", spelled).strip("_")
            if not name or name in requests:
                fault = "makes the test name of a spec above" if name else "has no letter and no digit"
                raise _error(said.get("id", [spec])[0], f"the id {spelled!r} {fault}; expected one of its own")
            requests[name] = _request(said, settings)
    except SettingsError as error:
        msg = f"{path}, {error}"
        raise SettingsError(msg) from error
    return requests


def _request(said: _Said, settings: Settings) -> BenchmarkSpec:
    first = {path: _content(nodes[0]) for path, nodes in said.items()}
    scenario = make_scenario(first["scenario"], settings, where=f"line {_line(said['scenario'][0])}")
    return BenchmarkSpec(
        scenario=scenario,
        choices=RunOptions(
            strategies=_strategies(said, settings.registry),
            perturb=_perturbations(said, settings.registry),
            samples=first.get("sample_size"),
            repeats=first.get("repeat"),
            subjects=tuple(map(_content, said.get("subjects", ()))) or None,
            **{name: first.get(f"inference.{name}") for name in ("seed", "max_tokens", "temperature", "logprobs")},
        ),
        gates=tuple(_gate(node, scenario, settings.registry) for node in said.get("gates", ())),
        models=tuple(map(_content, said.get("models", ()))) or None,
        metrics=tuple(_metric(_content(node), scenario, settings.registry, node) for node in said.get("metrics", ())),
        description=first.get("description", ""),
    )


def _strategies(said: _Said, registry: Registry) -> tuple[str, ...]:
    """Each strategy in each form that `cot` asks for: as it is, with a chain of thought, or both."""
    forms: list[str] = []
    for node in said["adaptation.strategy"]:
        with _at(node):
            names = registry.strategy_names([_content(node)])
        for cot in said.get("adaptation.cot", [None]):
            forms += [_reasoned(name, cot) for name in names] if cot and _content(cot) else names
    return registry.strategy_names(forms)


def _perturbations(said: _Said, registry: Registry) -> tuple[str, ...] | None:
    names: list[str] = []
    for node in said.get("perturbations", ()):
        with _at(node):
            names += registry.perturbation_names([_content(node)])
    return tuple(dict.fromkeys(names)) if "perturbations" in said else None


def _reasoned(name: str, cot: yaml.Node) -> str:
    """The form of a strategy that has a chain of thought."""
    if re.fullmatch(r"zero_shot_cot|(cot_few_shot|self_consistency)(_\d+)?", name):
        return name
    if name == "zero_shot":
        return "zero_shot_cot"
    if match := re.fullmatch(r"one_shot|few_shot_(\d+)", name):
        return f"cot_few_shot_{match[1] or 1}"
    raise _error(cot, f"adaptation.cot: {name} has no chain-of-thought form; expected zero_shot, one_shot, few_shot_K")


def _gate(node: yaml.Node, scenario: Scenario, registry: Registry) -> Gate:
    with _at(node):
        gate = registry.gate(_content(node))
    _metric(gate.metric, scenario, registry, node)
    return gate


def _metric(name: str, scenario: Scenario, registry: Registry, node: yaml.Node) -> str:
    from pytest_puma.planning.scores import check_metric

    if fault := check_metric(scenario, registry, name):
        raise _error(node, fault)
    return name


def _read(spec: yaml.Node) -> _Said:
    """What a spec says, each value of its kind and none refused."""
    if not isinstance(spec, yaml.MappingNode):
        raise _error(spec, f"found {_written(spec)}; expected a spec, as in 'scenario: triage_jira'")
    said = {path: nodes for path, node in _keys(spec, {}) if (nodes := _values(path, node))}
    for path, example in _REQUIRED.items():
        if path not in said:
            raise _error(spec, f"the spec has no {path}; expected one, as in '{example}'")
    return said


def _keys(mapping: yaml.MappingNode, lines: dict[str, int], section: str = "") -> Iterator[tuple[str, yaml.Node]]:
    """Every value under its dotted path; one that is unknown or there twice is an error. `lines` collects the paths."""
    for key, value in mapping.value:
        path = section + (key.value if isinstance(key, yaml.ScalarNode) else _written(key))
        if path not in _FIELDS:
            raise _error(key, f"the key {path!r} is unknown; {_hint(path, _FIELDS)}")
        if path in lines:
            raise _error(key, f"the key {path!r} is there twice, first in line {lines[path]}; keep one")
        lines[path] = _line(key)
        if path in _SECTIONS and isinstance(value, yaml.MappingNode):
            yield from _keys(value, lines, f"{path}.")
        elif _content(value) is not None:
            yield path, value


def _values(path: str, node: yaml.Node) -> list[yaml.Node]:
    field = _FIELDS[path]
    ((expected, holds),) = field if isinstance(field, list) else [field]
    nodes = node.value if isinstance(field, list) and isinstance(node, yaml.SequenceNode) else [node]
    for value in nodes:
        content = _content(value)
        if not holds(content):
            raise _error(value, f"{path}: found {_written(value)}; expected {expected}")
        neutral, instead = _REFUSED.get(path, ((content,), ""))
        if content not in neutral:
            raise _error(value, f"{path}: {_written(value)} is not supported: {instead}; leave the key out here")
    return list(nodes)


def _content(node: yaml.Node) -> Any:
    """The value of a scalar. What has none, such as a list or the date 2026-13-01, stays a node: that is of no kind."""
    try:
        return yaml.SafeLoader("").construct_object(node) if isinstance(node, yaml.ScalarNode) else node
    except (yaml.YAMLError, ValueError):
        return node


def _written(node: yaml.Node) -> str:
    """A value as it stands in the file."""
    start, end = node.start_mark, node.end_mark
    return textwrap.shorten((start.buffer or "")[start.pointer : end.pointer], 60) or "nothing"


def _specs(data: bytes) -> list[yaml.Node]:
    """The nodes that should be specs. Bytes that are not UTF-8 become characters that YAML does not allow."""
    text = data.decode("utf-8-sig", "surrogateescape")
    try:
        nodes = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except RecursionError as error:
        raise _error(1, "the file is nested too deeply; expected keys with values, as in a run-spec") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _error(line, f"this is not YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        line, found = text.count("\n", 0, error.position) + 1, chr(error.character)
        raise _error(line, f"found {found!r}; expected UTF-8 text without control characters") from error
    if specs := [spec for node in nodes for spec in (node.value if isinstance(node, yaml.SequenceNode) else [node])]:
        return specs
    raise _error(1, "the file holds no spec; expected one, as in 'scenario: triage_jira'")


@contextmanager
def _at(node: yaml.Node) -> Iterator[None]:
    """Add the line to the error of a reader that does not know it."""
    try:
        yield
    except SettingsError as error:
        raise _error(node, str(error)) from error


def _error(where: yaml.Node | int, sentence: str) -> SettingsError:
    return SettingsError(f"line {where if isinstance(where, int) else _line(where)}: {sentence}")


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1


def _hint(name: str, known: Collection[str]) -> str:
    """What could be meant: what ends in the name, as `inference.seed` does in `seed`, or else is most like it."""
    nearest = [it for it in known if it.endswith(f".{name.rpartition('.')[2]}")] or get_close_matches(name, known, n=1)
    return (f"did you mean {nearest[0]!r}? " if nearest else "") + f"there are: {', '.join(known)}"
