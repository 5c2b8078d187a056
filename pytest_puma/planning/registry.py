"""The names that options, markers and run-specs may use: scenarios, strategies, perturbations and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_puma.core import Gate, Metric, Scenario, SettingsError
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.perturbations import ALL as ALL_PERTURBATIONS
from pytest_puma.perturbations import Perturbation, parse_perturbation
from pytest_puma.phrases import there_are
from pytest_puma.scenarios import BUILTIN
from pytest_puma.scenarios.benchmarks import BENCHMARKS
from pytest_puma.scenarios.small import SMALL_SETS
from pytest_puma.strategies import ALL, Strategy, parse_strategy
from pytest_puma.strategies.templates import ANY

#: The scenarios of pytest-puma, by name.
SCENARIOS: Mapping[str, type[Scenario]] = {**BUILTIN, **SMALL_SETS, **BENCHMARKS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Every scenario, and the strategies, perturbations and metrics of plugins, by name.

    `prompts`: the project's folder of templates, if it is known.
    """

    scenarios: Mapping[str, type[Scenario]] = field(default_factory=lambda: SCENARIOS)
    strategies: Mapping[str, Strategy] = field(default_factory=dict)
    perturbations: Mapping[str, Perturbation] = field(default_factory=dict)
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    prompts: Path | None = None

    def strategy(self, name: str, *, templates: str = ANY) -> Strategy:
        """Return the strategy of a name; a `SettingsError` lists the known names.

        It also names the file that would make a strategy, in the folder `templates` of the scenario.
        """
        folder = None if self.prompts is None else self.prompts / templates
        return parse_strategy(name, self.strategies, folder=folder)

    def perturbation(self, name: str) -> Perturbation:
        """Return the perturbation of a name; a `SettingsError` lists the known names."""
        return parse_perturbation(name, self.perturbations)

    def strategy_names(self, texts: Iterable[str], *, templates: str = ANY) -> tuple[str, ...]:
        """Return canonical names in the given order, each once; `all` stands for all built-in ones.

        A `SettingsError` as of `strategy`.
        """
        names = (name for text in texts for name in (ALL if text.strip().lower() == "all" else (text,)))
        return tuple(dict.fromkeys(self.strategy(name, templates=templates).name for name in names))

    def perturbation_names(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return canonical names in order, each once; `all` stands for all built-in ones, `none` for no name."""
        words = (text.strip().lower() for text in texts)
        names = (name for word in words for name in (ALL_PERTURBATIONS if word == "all" else (word,)) if name != "none")
        return tuple(dict.fromkeys(self.perturbation(name).name for name in names))

    def gate(self, text: str) -> Gate:
        """Read a gate; its strategies get their canonical names."""
        gate = parse_gate(text)
        if gate.strategy is None or gate.other is None:
            return gate
        strategy, other = (self.strategy(name).name for name in (gate.strategy, gate.other))
        return replace(gate, strategy=strategy, other=other)

    def known_scenario(self, name: str, *, where: str) -> type[Scenario]:
        """Return the class of a name; a `SettingsError` lists the known names, and the nearest."""
        if name not in self.scenarios:
            msg = (
                f"{where}: scenario {name!r} is unknown; {there_are(name, sorted(self.scenarios))}; "
                "a project's own scenario is made known by the hook pytest_puma_scenarios in conftest.py"
            )
            raise SettingsError(msg)
        return self.scenarios[name]
