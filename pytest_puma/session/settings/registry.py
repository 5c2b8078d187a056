"""The registry of scenarios, strategies, perturbations and metrics: built in, from hooks, and from templates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from pytest_puma.core import Metric, Scenario, SettingsError
from pytest_puma.perturbations import Perturbation
from pytest_puma.perturbations import is_built_in as is_built_in_perturbation
from pytest_puma.planning.settings import Registry
from pytest_puma.scenarios import BUILTIN
from pytest_puma.scenarios.benchmarks import BENCHMARKS
from pytest_puma.scenarios.declared import check_class, check_name
from pytest_puma.scenarios.small import SMALL_SETS
from pytest_puma.session.settings.project import project_root
from pytest_puma.strategies import Strategy, is_built_in
from pytest_puma.strategies.from_templates import templated

_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def registry_of(config: pytest.Config) -> Registry:
    """Build the registry. A `SettingsError` names an invalid result of a hook."""
    own = _strategies(config)
    return Registry(
        scenarios=_scenarios(config),
        strategies=own | templated(project_root(config) / "prompts", own),
        perturbations=_perturbations(config),
        metrics=_metrics(config),
        prompts=project_root(config) / "prompts",
    )


def _returned(config: pytest.Config, hook: str) -> list[Any]:
    """Return the entries of all lists that the implementations of a hook return."""
    lists = getattr(config.hook, hook)()
    for entries in lists:
        if isinstance(entries, str) or not isinstance(entries, Iterable):
            name = getattr(entries, "__name__", "")
            msg = f"hook {hook}: found {entries!r}; expected a list{f': write [{name}]' if name else ''}"
            raise SettingsError(msg)
    return [entry for entries in lists for entry in entries]


def _scenarios(config: pytest.Config) -> dict[str, type[Scenario]]:
    scenarios = {**BUILTIN, **SMALL_SETS, **BENCHMARKS}
    for scenario in _returned(config, "pytest_puma_scenarios"):
        if not (isinstance(scenario, type) and issubclass(scenario, Scenario)):
            msg = f"hook pytest_puma_scenarios: found {scenario!r}; expected Scenario classes"
            raise SettingsError(msg)
        check_name(scenario)
        check_class(scenario)
        if scenarios.setdefault(scenario.name, scenario) is not scenario:
            msg = f"hook pytest_puma_scenarios: the name {scenario.name!r} is taken; rename {scenario.__qualname__}"
            raise SettingsError(msg)
    return scenarios


def _strategies(config: pytest.Config) -> dict[str, Strategy]:
    strategies: dict[str, Strategy] = {}
    for strategy in _returned(config, "pytest_puma_strategies"):
        if not isinstance(strategy, Strategy) or not _NAME.fullmatch(strategy.name):
            msg = f"hook pytest_puma_strategies: found {strategy!r}; expected Strategy objects named like 'my_strategy'"
            raise SettingsError(msg)
        if strategy.name in strategies or is_built_in(strategy.name):
            msg = f"hook pytest_puma_strategies: the name {strategy.name!r} is taken; rename yours"
            raise SettingsError(msg)
        strategies[strategy.name] = strategy
    return strategies


def _perturbations(config: pytest.Config) -> dict[str, Perturbation]:
    perturbations: dict[str, Perturbation] = {}
    for perturbation in _returned(config, "pytest_puma_perturbations"):
        if not isinstance(perturbation, Perturbation) or not _NAME.fullmatch(perturbation.name):
            msg = f"hook pytest_puma_perturbations: found {perturbation!r}; expected Perturbations named like 'my_own'"
            raise SettingsError(msg)
        name = perturbation.name
        if name in {*perturbations, "all", "none"} or is_built_in_perturbation(name):
            msg = f"hook pytest_puma_perturbations: the name {name!r} is taken; rename yours"
            raise SettingsError(msg)
        perturbations[name] = perturbation
    return perturbations


def _metrics(config: pytest.Config) -> dict[str, Metric]:
    added = _returned(config, "pytest_puma_metrics")
    if not added:
        return {}
    from pytest_puma.metrics.library import LIBRARY

    metrics: dict[str, Metric] = {}
    for metric in added:
        if not isinstance(metric, Metric):
            msg = f"hook pytest_puma_metrics: found {metric!r}; expected Metrics, as @metric makes of a function"
            raise SettingsError(msg)
        taken = next((name for name in (metric.name, *metric.names) if name in metrics or name in LIBRARY), None)
        if taken is not None:
            msg = f"hook pytest_puma_metrics: the name {taken!r} is taken; rename yours"
            raise SettingsError(msg)
        metrics[metric.name] = metric
    return metrics
