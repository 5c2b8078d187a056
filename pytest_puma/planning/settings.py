"""What was asked for: on the command line and in the ini file (`Settings`), by a marker or a run-spec (`Request`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from pytest_puma.analysis.naive_baselines import NaiveBaselines
from pytest_puma.baseline import Baselines, Entry
from pytest_puma.core import Gate, Generation, Metric, Model, Policy, Scenario, SettingsError
from pytest_puma.core.errors import check_limits
from pytest_puma.gates import parse_gate
from pytest_puma.perturbations import ALL as ALL_PERTURBATIONS
from pytest_puma.perturbations import Perturbation, parse_perturbation
from pytest_puma.planning.reports import ReportFile
from pytest_puma.run.cell import DEFAULT_SAMPLES, DEFAULT_SEED, MAX_SEED, Cell
from pytest_puma.scenarios import BUILTIN
from pytest_puma.strategies import ALL, Strategy, parse_strategy

DEFAULT_STRATEGIES = ("zero_shot", "few_shot_3", "contextual_anchoring", "option_scoring")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Run options from one source; `None` means unset.

    `perturb`: the perturbations to run each cell under, too. `repeats`: how often each sample is asked. `subjects`:
    patterns of the groups to draw samples from.
    """

    strategies: tuple[str, ...] | None = None
    perturb: tuple[str, ...] | None = None
    samples: int | Literal["all"] | None = None
    repeats: int | None = None
    subjects: tuple[str, ...] | None = None
    seed: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    logprobs: bool | None = None

    def __post_init__(self) -> None:
        """Refuse now what a cell would refuse later."""
        for name, expected in (("strategies", "name"), ("subjects", "pattern")):
            values = getattr(self, name)
            if values is not None and not all(values or [""]):
                empty = "is empty" if not values else "has an empty one"
                msg = f"{name} {empty}; expected at least one {expected}"
                raise SettingsError(msg)
        samples = None if self.samples == "all" else self.samples
        check_limits(
            {
                "samples": (samples, 1, math.inf),
                "repeats": (self.repeats, 1, math.inf),
                "seed": (self.seed, 0, MAX_SEED),
            }
        )
        for name in ("samples", "repeats", "seed", "max_tokens", "top_k"):
            if isinstance(getattr(self, name), float):
                msg = f"{name} is {getattr(self, name)!r}; expected a whole number"
                raise SettingsError(msg)
        self.generation()

    def with_defaults(self, weaker: RunOptions) -> RunOptions:
        """These choices, with the weaker ones where they say nothing."""
        both = ((field.name, getattr(self, field.name), getattr(weaker, field.name)) for field in fields(self))
        return RunOptions(**{name: other if own is None else own for name, own, other in both})

    def generation(self) -> Generation:
        """The part that says how to decode."""
        said = {name: getattr(self, name) for name in Generation.__slots__ if hasattr(self, name)}
        return Generation(**{name: value for name, value in said.items() if value is not None})


DEFAULTS = RunOptions(strategies=DEFAULT_STRATEGIES, samples=DEFAULT_SAMPLES, seed=DEFAULT_SEED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Every scenario, and the strategies, perturbations and metrics of plugins, by name."""

    scenarios: Mapping[str, type[Scenario]] = field(default_factory=lambda: dict(BUILTIN))
    strategies: Mapping[str, Strategy] = field(default_factory=dict)
    perturbations: Mapping[str, Perturbation] = field(default_factory=dict)
    metrics: Mapping[str, Metric] = field(default_factory=dict)

    def strategy(self, name: str) -> Strategy:
        """The strategy of a name; a `SettingsError` lists the names there are."""
        return parse_strategy(name, self.strategies)

    def perturbation(self, name: str) -> Perturbation:
        """The perturbation of a name; a `SettingsError` lists the names there are."""
        return parse_perturbation(name, self.perturbations)

    def strategy_names(self, said: Iterable[str]) -> tuple[str, ...]:
        """Canonical names, `all` written out, each once, in the order said."""
        names = (name for text in said for name in (ALL if text.strip().lower() == "all" else (text,)))
        return tuple(dict.fromkeys(self.strategy(name).name for name in names))

    def perturbation_names(self, said: Iterable[str]) -> tuple[str, ...]:
        """Canonical names, `all` written out, each once, in the order said, without `none`: the samples as they are."""
        words = (text.strip().lower() for text in said)
        names = (name for word in words for name in (ALL_PERTURBATIONS if word == "all" else (word,)) if name != "none")
        return tuple(dict.fromkeys(self.perturbation(name).name for name in names))

    def gate(self, text: str) -> Gate:
        """A gate as users write it, its strategies by their canonical names."""
        gate = parse_gate(text)
        if gate.strategy is None or gate.other is None:
            return gate
        strategy, other = (self.strategy(name).name for name in (gate.strategy, gate.other))
        return replace(gate, strategy=strategy, other=other)

    def known_scenario(self, name: str, *, where: str) -> type[Scenario]:
        """The class of a name; a `SettingsError` lists the names there are."""
        if name not in self.scenarios:
            msg = (
                f"{where}: scenario {name!r} is unknown; there are: {', '.join(sorted(self.scenarios))}; "
                "a project's own scenario is made known by the hook pytest_puma_scenarios in conftest.py"
            )
            raise SettingsError(msg)
        return self.scenarios[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything said outside the tests, checked before any model is loaded."""

    registry: Registry = field(default_factory=Registry)
    models: tuple[Model, ...] = ()
    data: Mapping[str, Path] = field(default_factory=dict)
    scenarios: tuple[str, ...] = ()
    command: RunOptions = field(default_factory=RunOptions)
    ini: RunOptions = field(default_factory=RunOptions)
    gates: tuple[Gate, ...] = ()
    #: Those of `gates` that stand in the ini file.
    ini_gates: tuple[Gate, ...] = ()
    project: Path | None = None
    threads: int | None = None
    determinism: int = 0
    baselines: Baselines = field(default_factory=lambda: Baselines(Path("benchmarks", "baselines")))
    naive_baselines: NaiveBaselines = field(default_factory=NaiveBaselines)
    shows_naive_baselines: bool = True
    policy: Policy = field(default_factory=Policy)
    stop_early: bool = False
    flips: bool = False
    compare: tuple[str, ...] = ()
    only: Mapping[str, frozenset[str]] | None = None
    reports: tuple[ReportFile, ...] = ()
    junit: bool = False

    def runs(self, scenario: str) -> bool:
        """Whether `--puma-scenario` leaves a scenario in the run."""
        return not self.scenarios or scenario in self.scenarios

    def baseline_of(self, cell: Cell) -> Entry | None:
        """What a cell is compared with; None where nothing asks for it, and where there is none."""
        compares = (
            self.flips
            or "baseline" in self.compare
            or self.policy.accepts
            or any(gate.other == "baseline" for gate in cell.gates)
        )
        return self.baselines.find(cell.scenario.name, cell.id) if compares else None

    def naive_baselines_of(self, cell: Cell) -> NaiveBaselines | None:
        """The trivial programs, where the cell's reports show them or its gates need one."""
        shown = self.shows_naive_baselines and cell.perturbation is None
        wanted = shown or any(gate.naive for gate in cell.gates)
        return self.naive_baselines if wanted else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkSpec:
    """What a marker or a run-spec asks for: a scenario, how to run it, and gates.

    `models` picks some of those named on the command line; `metrics` are the ones that reports show,
    the scenario's primary one where empty.
    """

    scenario: Scenario
    choices: RunOptions = field(default_factory=RunOptions)
    gates: tuple[Gate, ...] = ()
    models: tuple[str, ...] | None = None
    metrics: tuple[str, ...] = ()
    description: str = ""
