"""The registry of scenarios, strategies, perturbations and metrics: built in, from hooks, and from templates.

Hooks also add variants of models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from pytest_puma.core import Metric, Model, PumaError, Scenario, SettingsError, Variant
from pytest_puma.core.variant import PLUS
from pytest_puma.errors import naming, raised_in
from pytest_puma.judges import JUDGED
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.models.fit import check_fit, check_functions
from pytest_puma.models.variants import check_together
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


def with_own_variants(config: pytest.Config, models: tuple[Model, ...]) -> tuple[Model, ...]:
    """Add the variants of the hook to those of each model. A `PumaError` names an invalid one."""
    hook, grown = "pytest_puma_variants", list(models)
    if not config.hook.pytest_puma_variants.get_hookimpls():
        return models
    plain_models = dict.fromkeys(model.plain for model in models)
    for plain in plain_models:
        if plain.source not in {"weights", "store", "cluster"}:
            continue
        variants = _returned(config, hook, model=plain)
        if variants and plain.source == "cluster":
            msg = f"hook {hook}: it returns variants of {plain.name}, and a cluster has none; leave out --puma-cluster"
            raise SettingsError(msg)
        if wrong := next((entry for entry in variants if not isinstance(entry, Variant)), None):
            msg = f"hook {hook}: found {wrong!r}; expected Variants, as Variant.of(lora('tone.gguf'))"
            raise SettingsError(msg)
        own = [replace(plain, name=f"{plain.name}{PLUS}{variant.name}", variant=variant) for variant in variants]
        names = [model.name for model in (*grown, *own)]
        if taken := next((model.name for model in own if names.count(model.name) > 1), None):
            msg = f"hook {hook}: the name {taken!r} is taken; give yours another: Variant.of(..., name='mix')"
            raise SettingsError(msg)
        with naming(f"hook {hook}"):
            check_functions(own)
            for variant in variants:
                check_together(plain, variant)
            if own and plain.computes:
                check_fit(own)
        grown += own
    return tuple(model for plain in plain_models for model in grown if model.plain == plain)


def _returned(config: pytest.Config, hook: str, **arguments: object) -> list[Any]:
    """Return the entries of all lists that a hook returns. A `PumaError` names the hook, and its line if it raises."""
    caller = getattr(config.hook, hook)
    try:
        with naming(f"hook {hook}"):
            return _entries(caller(**arguments))
    except (PumaError, pytest.UsageError):
        raise
    except Exception as error:
        files = {plugin.function.__code__.co_filename for plugin in caller.get_hookimpls()}
        msg = f"hook {hook} raised {type(error).__name__}: {raised_in(error, files)}"
        raise SettingsError(msg) from error


def _entries(lists: Iterable[object]) -> list[Any]:
    """The entries of all lists; a `SettingsError` for what is none."""
    entries = list[Any]()
    for found in lists:
        if isinstance(found, str) or not isinstance(found, Iterable):
            name = getattr(found, "__name__", "")
            msg = f"found {found!r}; expected a list{f': write [{name}]' if name else ''}"
            raise SettingsError(msg)
        entries += found
    return entries


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
