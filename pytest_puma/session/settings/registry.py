"""The registry of scenarios, strategies, perturbations and metrics: built in, from hooks, and from templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from pytest_puma.core import Metric, Scenario, SettingsError
from pytest_puma.judges import JUDGED
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.perturbations import Perturbation
from pytest_puma.perturbations import is_built_in as is_built_in_perturbation
from pytest_puma.planning.registry import SCENARIOS, Registry
from pytest_puma.scenarios.declared import check_class, check_name
from pytest_puma.session.settings.project import project_root
from pytest_puma.strategies import Strategy, is_built_in, templated

_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def registry_of(config: pytest.Config) -> Registry:
    """Build the registry. A `SettingsError` names an invalid result of a hook."""
    prompts = project_root(config) / "prompts"
    strategies = _added(config, "strategies", Strategy, "Strategy objects named like 'my_strategy'", is_built_in)
    return Registry(
        scenarios=_scenarios(config),
        strategies=strategies | templated(prompts, strategies),
        perturbations=_added(config, "perturbations", Perturbation, "Perturbations named like 'my_own'", _is_taken),
        metrics=_added(
            config, "metrics", Metric, "Metrics, as @metric makes of a function", {**LIBRARY, **JUDGED}.__contains__
        ),
        prompts=prompts,
    )


def _added(
    config: pytest.Config, kind: str, noun: type[Any], expected: str, is_taken: Callable[[str], bool]
) -> dict[str, Any]:
    """Return what the hook of a kind adds, by name."""
    hook, added = f"pytest_puma_{kind}", dict[str, Any]()
    for entry in _returned(config, hook):
        # The names of metrics are those of functions.
        if not isinstance(entry, noun) or not (noun is Metric or _NAME.fullmatch(entry.name)):
            msg = f"hook {hook}: found {entry!r}; expected {expected}"
            raise SettingsError(msg)
        names = (entry.name, *getattr(entry, "names", ()))
        taken = next((name for name in names if name in added or is_taken(name)), None)
        if taken is not None:
            msg = f"hook {hook}: the name {taken!r} is taken; rename yours"
            raise SettingsError(msg)
        added[entry.name] = entry
    return added


def _is_taken(perturbation: str) -> bool:
    return perturbation in {"all", "none"} or is_built_in_perturbation(perturbation)


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
    scenarios = dict(SCENARIOS)
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
