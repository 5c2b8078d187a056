"""Run-spec files: YAML that requests cells, as the marker does. docs/run-specs.md explains each key.

scenario: triage_jira
adaptation: {strategy: [zero-shot, few-shot-3]}
inference: {temperature: 0, seed: 42}
gates: ["f1_macro >= 0.45"]
"""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from pytest_puma.core import Gate, Scenario, SettingsError
from pytest_puma.planning.matrix import make_scenario
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.runspec_yaml import Values, content, error_at, line_of, read_at, read_nodes, read_values
from pytest_puma.planning.scores import check_metric
from pytest_puma.planning.settings import BenchmarkSpec, RunOptions, Settings


def read_specs(path: Path, settings: Settings) -> dict[str, BenchmarkSpec]:
    """Return the specs of a file by their ids in letters, digits and `_`. A `SettingsError` names the line."""
    stem = re.sub(r"(\.puma)?\.ya?ml$", "", path.name)
    specs: dict[str, BenchmarkSpec] = {}
    try:
        nodes = read_nodes(_content(path))
        for number, node in enumerate(nodes, 1):
            values = read_values(node)
            default = stem if len(nodes) == 1 else f"{stem}_{number}"
            written = values["id"][0].value if "id" in values else default
            name = re.sub(r"\W+", "_", written).strip("_")
            if not name or name in specs:
                fault = "makes the test name of a spec above" if name else "has no letter and no digit"
                raise error_at(values.get("id", [node])[0], f"the id {written!r} {fault}; expected one of its own")
            specs[name] = _spec(values, settings)
    except SettingsError as error:
        msg = f"{path}, {error}"
        raise SettingsError(msg) from error
    return specs


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        msg = f"line 1: the file cannot be read ({error.strerror})"
        raise SettingsError(msg) from error


def _spec(values: Values, settings: Settings) -> BenchmarkSpec:
    first = {path: content(nodes[0]) for path, nodes in values.items()}
    scenario = make_scenario(first["scenario"], settings, where=f"line {line_of(values['scenario'][0])}")
    registry = settings.registry
    strategies = _strategies(values, registry, templates=scenario.template_folder or scenario.name)
    perturbations = [
        name
        for node in values.get("perturbations", ())
        for name in read_at(node, lambda text: registry.perturbation_names([text]))
    ]
    return BenchmarkSpec(
        scenario=scenario,
        options=RunOptions(
            strategies=strategies,
            judge=tuple(map(content, values.get("judge", ()))) or None,
            perturb=tuple(dict.fromkeys(perturbations)) if "perturbations" in values else None,
            samples=first.get("sample_size"),
            repeats=first.get("repeat"),
            retries=first.get("retries"),
            subjects=tuple(map(content, values.get("subjects", ()))) or None,
            **{name: first.get(f"inference.{name}") for name in ("seed", "max_tokens", "temperature", "logprobs")},
        ),
        gates=tuple(_gate(node, scenario, registry) for node in values.get("gates", ())),
        models=tuple(map(content, values.get("models", ()))) or None,
        variants=tuple(map(content, values.get("variants", ()))) or None,
        metrics=tuple(_metric(content(node), scenario, registry, node) for node in values.get("metrics", ())),
        description=first.get("description", ""),
    )


def _strategies(values: Values, registry: Registry, *, templates: str) -> tuple[str, ...]:
    """Return each strategy in each form that `cot` requests: as it is, with a chain of thought, or both."""
    forms: list[str] = []
    for node in values["adaptation.strategy"]:
        names = read_at(node, lambda text: registry.strategy_names([text], templates=templates))
        for cot in values.get("adaptation.cot", [None]):
            forms += [_reasoned(name, cot) for name in names] if cot and content(cot) else names
    return registry.strategy_names(forms)


def _reasoned(name: str, cot: yaml.Node) -> str:
    """Return the form of a strategy with a chain of thought."""
    if re.fullmatch(r"zero_shot_cot|(cot_few_shot|self_consistency|budget)(_\d+)?", name):
        return name
    if name == "zero_shot":
        return "zero_shot_cot"
    if match := re.fullmatch(r"one_shot|few_shot_(\d+)", name):
        return f"cot_few_shot_{match[1] or 1}"
    raise error_at(
        cot, f"adaptation.cot: {name} has no chain-of-thought form; expected zero_shot, one_shot, few_shot_K"
    )


def _gate(node: yaml.Node, scenario: Scenario, registry: Registry) -> Gate:
    gate = read_at(node, registry.gate)
    _metric(gate.metric, scenario, registry, node)
    return gate


def _metric(name: str, scenario: Scenario, registry: Registry, node: yaml.Node) -> str:
    if fault := check_metric(scenario, registry, name):
        raise error_at(node, fault)
    return name
