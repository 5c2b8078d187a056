"""Gates of the command line and the ini file that no cell takes: typing errors are found before any model is loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from pytest_puma.core import CellId, Gate, Scenario, SettingsError
from pytest_puma.core.errors import did_you_mean
from pytest_puma.core.metric_name import MetricName
from pytest_puma.metrics import metric_names
from pytest_puma.planning.matrix import is_taken
from pytest_puma.planning.scores import available_scores
from pytest_puma.planning.settings import Registry, Settings
from pytest_puma.run.cell import Cell
from pytest_puma.strategies import ALL

#: Of many cells, so many are named.
_NAMED = 4


def unmatched(cells: Sequence[Cell], settings: Settings, elsewhere: Collection[Gate]) -> list[str]:
    """A sentence for each gate that none of the collected cells can ever take.

    Gates that are `elsewhere` may be about tests that were not collected, or about other models or strategies than
    those of this run; names that exist nowhere are refused all the same.
    """
    faults = []
    for gate in settings.gates:
        if not is_taken(gate, cells):
            fault = _unknown(gate, cells, settings, others=gate in elsewhere)
            if fault:
                faults.append(f"gate {str(gate)!r}: {fault}")
    return faults


def _unknown(gate: Gate, cells: Sequence[Cell], settings: Settings, *, others: bool) -> str:
    """Why no cell takes the gate; nothing where `others`, which were not collected, may take it."""
    scenarios = _scenarios(cells, settings.registry)
    strategies = dict.fromkeys((*ALL, *settings.registry.strategies, *(cell.strategy.name for cell in cells)))
    scope = _Scope(gate.scope or "*")
    if not scope.fits_scenario(scenarios):
        # A scenario that a marker names by its class is known where its file is collected.
        hint = _other_part(scope.base, strategies, cells) or _hint(scope.base, scenarios)
        return "" if others else f"no scenario is called {scope.scenario!r}; {hint}"
    metrics = {name: None for scenario in scenarios.values() for name in _metrics(scenario, settings.registry)}
    if not gate.word and MetricName.parse(gate.metric).base not in metrics:
        collected = {name: None for cell in cells for name in _metrics(cell.scenario, settings.registry)}
        return f"no scenario has the metric {gate.metric!r}; {_hint(gate.metric, collected)}"
    if not scope.fits_strategy(strategies, settings.registry):
        return f"no strategy is called {scope.strategy!r}; {_hint(scope.strategy, strategies)}"
    models = {cell.model.name: None for cell in cells}
    if others:
        return ""
    if not scope.fits_model(models):
        return f"no model of this run is called {scope.model!r}; {_hint(scope.model, models)}"
    some = ", ".join(cell.id for cell in cells[:_NAMED]) + (f" and {len(cells) - _NAMED} more" * (len(cells) > _NAMED))
    return f"it matches no collected cell; there are: {some}"


def _metrics(scenario: Scenario, registry: Registry) -> tuple[str, ...]:
    return metric_names(scenario, available_scores(scenario, registry))


def _scenarios(cells: Iterable[Cell], registry: Registry) -> dict[str, Scenario]:
    """Those that were collected, and those known by name."""
    known = {name: scenario() for name, scenario in registry.scenarios.items()}
    return known | {cell.scenario.name: cell.scenario for cell in cells}


def _hint(name: str, known: Mapping[str, object]) -> str:
    return f"{did_you_mean(name, known)}there are: {', '.join(known)}"


def _other_part(name: str, strategies: Iterable[str], cells: Iterable[Cell]) -> str:
    """How to write a scope that is the name of a strategy or of a model alone."""
    if name in strategies:
        return f"for this strategy of any scenario write '*-{name}'"
    if name in {cell.model.name for cell in cells}:
        return f"for this model write '*@{name}'"
    return ""


class _Scope:
    """A gate's scope in its parts: `scenario-strategy+perturbation@model`, `*` and `?` anywhere."""

    def __init__(self, text: str) -> None:
        parts = CellId.parse(text)
        self.scenario, self.strategy, self.model = (
            parts.scenario,
            parts.strategy.replace("-", "_") or "*",
            parts.model or "*",
        )
        self.base = f"{parts.scenario}-{parts.strategy}" if parts.strategy else parts.scenario

    def fits_scenario(self, known: Iterable[str]) -> bool:
        # `triage*` may end in the strategy's name.
        return any(fnmatchcase(name, self.scenario) for name in known) or "*" in self.scenario

    def fits_strategy(self, known: Iterable[str], registry: Registry) -> bool:
        if any(fnmatchcase(name, self.strategy) for name in known):
            return True
        try:
            registry.strategy_names([self.strategy])  # any K of few_shot_K
        except SettingsError:
            return False
        return True

    def fits_model(self, known: Iterable[str]) -> bool:
        return any(fnmatchcase(name, self.model) for name in known)
