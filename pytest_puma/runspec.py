"""Run-spec files: YAML that asks for cells, as the marker does. docs/run-specs.md says what each field does.

    id: triage-baseline
    scenario: triage_jira
    sample_size: 50
    models: [qwen2.5:3b]
    adaptation: {strategy: [zero-shot, few-shot-3]}
    inference: {temperature: 0, seed: 42}
    gates: ["f1_macro >= 0.45"]

A file holds one such mapping, or several: a list of them, or documents separated by `---`. Every key that may be
written is declared in `_FIELDS`; `null` is the same as leaving it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from pytest_puma.core import Gate, Scenario, SettingsError
from pytest_puma.gates import parse_gate
from pytest_puma.matrix import Choices, Registry, Request, Settings, make_scenario


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a value may be, in words and as a test."""

    expected: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class _Field:
    """One value of a kind; or a list of `least` or more, for which a lone value may stand.

    A field of PUMA whose effect this package does not have is fine while its value is one of `neutral`, and refused
    otherwise: `instead` says why, and what to do.
    """

    kind: _Kind
    least: int | None = None
    neutral: tuple[Any, ...] | None = None
    instead: str = ""


_NAME = _Kind("a name, in quotes if YAML takes it for something else", lambda it: isinstance(it, str) and it != "")
_GATE = _Kind("a gate in quotes, as in 'triage_jira: f1_macro >= 0.45'", lambda it: isinstance(it, str))
_TEXT = _Kind("text", lambda it: isinstance(it, str))
_FLAG = _Kind("true or false", lambda it: isinstance(it, bool))
# isinstance would take true and false for whole numbers.
_WHOLE = _Kind("a whole number", lambda it: type(it) is int)
_COUNT = _Kind("a whole number from 1", lambda it: type(it) is int and it >= 1)
_HEAT = _Kind("a number from 0 (greedy) to 100", lambda it: type(it) in {int, float} and 0 <= it <= 100)  # noqa: PLR2004
_ANY = _Kind("anything", lambda _: True)

_NO_ENERGY = "energy is not measured; measure the pytest process from outside"
_NO_TOP = "whole labels' probabilities come from the strategy option_scoring"
_NO_FORMAT = "a reply is plain text; its form is the business of the scenario's template and parse_response"
_NO_PERTURBATIONS = "samples are asked about as they are; put changed ones into a file of your own, for --puma-data"
_NO_REPEAT = "one seed gives the same answers each time; run again with another --puma-seed"
_NO_PROFILES = "there are no hardware profiles; name models that fit the machine by --puma-model"

_FIELDS: Mapping[str, _Field] = {
    "id": _Field(_NAME),
    "description": _Field(_TEXT),
    "scenario": _Field(_NAME),
    "sample_size": _Field(_COUNT),
    "models": _Field(_NAME, least=1),
    "adaptation.strategy": _Field(_NAME, least=1),
    "adaptation.cot": _Field(_FLAG, least=1),
    "inference.temperature": _Field(_HEAT),
    "inference.seed": _Field(_WHOLE),
    "inference.max_tokens": _Field(_COUNT),
    "inference.logprobs": _Field(_FLAG),
    "inference.top_logprobs": _Field(_WHOLE, neutral=(0,), instead=_NO_TOP),
    "inference.format": _Field(_ANY, neutral=("", "text"), instead=_NO_FORMAT),
    "perturbations": _Field(_NAME, least=0, neutral=("none",), instead=_NO_PERTURBATIONS),
    "metrics": _Field(_NAME, least=0),
    "sustainability": _Field(_FLAG, neutral=(False,), instead=_NO_ENERGY),
    "sustainability.codecarbon": _Field(_FLAG, neutral=(False,), instead=_NO_ENERGY),
    # Tells codecarbon whose power grid it is; with codecarbon off it asks for nothing.
    "sustainability.country_iso": _Field(_NAME),
    "repeat": _Field(_COUNT, neutral=(1,), instead=_NO_REPEAT),
    "profile_required": _Field(_ANY, neutral=(False, ""), instead=_NO_PROFILES),
    "gates": _Field(_GATE, least=0),
}
_SECTIONS = ("adaptation", "inference", "sustainability")
_REQUIRED = {"scenario": "scenario: triage_jira", "adaptation.strategy": "adaptation: {strategy: [zero_shot]}"}


@dataclass(frozen=True, slots=True)
class _Value:
    """A value, and the line in which to look for it."""

    content: Any
    line: int


#: What a spec says, by dotted path; a field of one value has a tuple of one.
_Said: TypeAlias = Mapping[str, tuple[_Value, ...]]


def read_specs(path: Path, settings: Settings) -> dict[str, Request]:
    """The requests of a file by their specs' ids, made fit to end a test's name: letters, digits and `_`.

    A `SettingsError` names the file and the line of what cannot be read or obeyed.
    """
    stem = re.sub(r"(\.puma)?\.ya?ml$", "", path.name)
    requests: dict[str, Request] = {}
    try:
        specs = _specs(path.read_bytes())
        for number, spec in enumerate(specs, 1):
            said = _read(spec)
            default = stem if len(specs) == 1 else f"{stem}_{number}"
            spelled = said.get("id", (_Value(default, _line(spec)),))[0]
            name = _test_name(spelled)
            if name in requests:
                raise _error(spelled.line, f"the id {spelled.content!r} is taken by a spec above; give each its own")
            requests[name] = _request(said, settings)
    except SettingsError as error:
        msg = f"{path}, {error}"
        raise SettingsError(msg) from error
    return requests


def _test_name(spelled: _Value) -> str:
    name = re.sub(r"\W+", "_", spelled.content).strip("_")
    if not name:
        raise _error(spelled.line, f"the id {spelled.content!r} has no letter or digit; expected some: it names a test")
    return name


def _request(said: _Said, settings: Settings) -> Request:
    scenario = make_scenario(_one(said, "scenario"), settings, where=f"line {said['scenario'][0].line}")
    for metric in said.get("metrics", ()):
        _check_metric(metric.content, scenario, metric.line)
    return Request(
        scenario=scenario,
        choices=Choices(
            strategies=_strategies(said, settings.registry),
            samples=_one(said, "sample_size"),
            seed=_one(said, "inference.seed"),
            max_tokens=_one(said, "inference.max_tokens"),
            temperature=_one(said, "inference.temperature"),
            logprobs=_one(said, "inference.logprobs"),
        ),
        gates=tuple(_gate(gate, scenario) for gate in said.get("gates", ())),
        models=_all(said, "models") or None,
        metrics=_all(said, "metrics"),
        description=_one(said, "description") or "",
    )


def _one(said: _Said, path: str) -> Any:
    return said[path][0].content if path in said else None


def _all(said: _Said, path: str) -> tuple[Any, ...]:
    return tuple(value.content for value in said.get(path, ()))


def _strategies(said: _Said, registry: Registry) -> tuple[str, ...]:
    """Each strategy in each form that `cot` asks for: as it is, with a chain of thought, or both."""
    forms: list[str] = []
    for strategy in said["adaptation.strategy"]:
        with _at(strategy.line):
            names = registry.strategy_names([strategy.content])
        for cot in said.get("adaptation.cot", (_Value(content=False, line=strategy.line),)):
            forms += [_reasoned(name, cot.line) for name in names] if cot.content else names
    return registry.strategy_names(forms)


def _reasoned(name: str, line: int) -> str:
    """The chain-of-thought form of a strategy."""
    if name == "zero_shot_cot" or name.startswith(("cot_few_shot", "self_consistency")):
        return name
    if name == "zero_shot":
        return "zero_shot_cot"
    if match := re.fullmatch(r"few_shot_(\d+)|one_shot", name):
        return f"cot_few_shot_{match[1] or 1}"
    raise _error(
        line,
        f"adaptation.cot is true, but the strategy {name} has no chain-of-thought form; "
        "expected zero_shot, one_shot or few_shot_K, or cot: false",
    )


def _gate(gate: _Value, scenario: Scenario) -> Gate:
    with _at(gate.line):
        parsed = parse_gate(gate.content)
    _check_metric(parsed.metric, scenario, gate.line)
    return parsed


def _check_metric(name: str, scenario: Scenario, line: int) -> None:
    from pytest_puma.metrics import metric_names

    known = metric_names(scenario)
    if name not in known:
        hint = _hint(get_close_matches(name, known, n=1))
        raise _error(line, f"{scenario.name} has no metric {name!r}; {hint}there are: {', '.join(known)}")


def _specs(data: bytes) -> list[yaml.MappingNode]:
    documents = _documents(data)
    nodes = [node for document in documents for node in (_items(document))]
    if not nodes:
        raise _error(1, "the file holds no spec; expected keys and values, as in 'scenario: triage_jira'")
    for node in nodes:
        if not isinstance(node, yaml.MappingNode):
            raise _error(_line(node), f"found {_written(node)}; expected a spec, as in 'scenario: triage_jira'")
    return [node for node in nodes if isinstance(node, yaml.MappingNode)]


def _documents(data: bytes) -> list[yaml.Node]:
    position = 0
    try:
        return list(yaml.compose_all(data.decode("utf-8-sig"), Loader=yaml.SafeLoader))
    except UnicodeDecodeError as error:
        position, fault = error.start, f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
    except yaml.reader.ReaderError as error:
        ...
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise _error(...)


def _read(spec: yaml.MappingNode) -> _Said:
    """The fields of a spec, checked one by one."""
    said = {path: values for path, values in _fields(spec) if ...}
