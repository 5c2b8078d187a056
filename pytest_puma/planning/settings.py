"""Requested runs: `Settings` of the command line and the ini file, `BenchmarkSpec` of a marker or a run-spec."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from pytest_puma.analysis.naive_baselines import NaiveBaselines
from pytest_puma.baseline import Baselines, Entry
from pytest_puma.core import Gate, Generation, Metric, Model, Policy, Scenario, SettingsError
from pytest_puma.errors import check_limits, did_you_mean
from pytest_puma.evaluation.cell import DEFAULT_SAMPLES, DEFAULT_SEED, MAX_SEED, Cell
from pytest_puma.gates import parse_gate
from pytest_puma.perturbations import ALL as ALL_PERTURBATIONS
from pytest_puma.perturbations import Perturbation, parse_perturbation
from pytest_puma.planning.reports import PageSettings, ReportFile
from pytest_puma.planning.storage import StoreSettings
from pytest_puma.runs.older import Older
from pytest_puma.runs.recorded_run import RecordedRun
from pytest_puma.scenarios import BUILTIN
from pytest_puma.scenarios.benchmarks import BENCHMARKS
from pytest_puma.scenarios.small import SMALL_SETS
from pytest_puma.strategies import ALL, Strategy, parse_strategy
from pytest_puma.strategies.misnamed import ANY


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
        """Return these options, completed by those of a weaker source."""
        both = ((field.name, getattr(self, field.name), getattr(weaker, field.name)) for field in fields(self))
        return RunOptions(**{name: other if own is None else own for name, own, other in both})

    def generation(self) -> Generation:
        """Return the settings of decoding."""
        values = {name: getattr(self, name) for name in Generation.__slots__ if hasattr(self, name)}
        return Generation(**{name: value for name, value in values.items() if value is not None})


#: The default number of runs whose predictions stay.
DEFAULT_RUNS = 50
DEFAULTS = RunOptions(samples=DEFAULT_SAMPLES, seed=DEFAULT_SEED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Every scenario, and the strategies, perturbations and metrics of plugins, by name.

    `prompts`: the project's folder of templates, if it is known.
    """

    scenarios: Mapping[str, type[Scenario]] = field(default_factory=lambda: {**BUILTIN, **SMALL_SETS, **BENCHMARKS})
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
            hint = did_you_mean(name, self.scenarios)
            msg = (
                f"{where}: scenario {name!r} is unknown; {hint}there are: {', '.join(sorted(self.scenarios))}; "
                "a project's own scenario is made known by the hook pytest_puma_scenarios in conftest.py"
            )
            raise SettingsError(msg)
        return self.scenarios[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings outside of tests: command line and ini file, checked before any model is loaded."""

    registry: Registry = field(default_factory=Registry)
    models: tuple[Model, ...] = ()
    data: Mapping[str, Path] = field(default_factory=dict)
    scenarios: tuple[str, ...] = ()
    command: RunOptions = field(default_factory=RunOptions)
    ini: RunOptions = field(default_factory=RunOptions)
    gates: tuple[Gate, ...] = ()
    #: The part of `gates` that comes from the ini file.
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
    #: The run to compare this one with.
    earlier: Older | None = None
    only: Mapping[str, frozenset[str]] | None = None
    reports: tuple[ReportFile, ...] = ()
    page: PageSettings = field(default_factory=PageSettings)
    junit: bool = False
    store: StoreSettings = field(default_factory=StoreSettings)
    #: The run whose answers are read, None to compute them.
    rescored: RecordedRun | None = None
    #: Whether files have the prompts and the rows of the samples.
    keep_prompts: bool = True
    #: The number of runs whose predictions stay.
    keep_runs: int = DEFAULT_RUNS

    def selects(self, cell: Cell) -> bool:
        """Whether the options on scenarios, flips and earlier runs leave a cell in the run."""
        return (
            self.runs(cell.scenario.name)
            and (self.only is None or cell.id in self.only)
            and (self.rescored is None or cell.id in self.rescored.cells)
        )

    def runs(self, scenario: str) -> bool:
        """Whether `--puma-scenario` leaves a scenario in the run."""
        return not self.scenarios or scenario in self.scenarios

    def baseline_of(self, cell: Cell) -> Entry | None:
        """Return the baseline of a cell; None if there is none, or if nothing needs it."""
        compares = (
            self.flips
            or "baseline" in self.compare
            or self.policy.accepts
            or any(gate.other == "baseline" for gate in cell.gates)
        )
        return self.baselines.find(cell.scenario.name, cell.id) if compares else None

    def why_no_baseline(self, cell: Cell) -> str:
        """Return why a cell with a gate on its baseline has none, if it has none."""
        is_gated = any(gate.other == "baseline" for gate in cell.gates)
        return self.baselines.why_missing(cell.name) if is_gated else ""

    def naive_baselines_of(self, cell: Cell) -> NaiveBaselines | None:
        """Return the naive baselines if reports of the cell show them or its gates need one, else None."""
        shown = self.shows_naive_baselines and cell.perturbation is None
        wanted = shown or any(gate.naive for gate in cell.gates)
        return self.naive_baselines if wanted else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkSpec:
    """Request of a marker or a run-spec: a scenario, run options and gates.

    `models` selects some of those of the command line, None for all. `metrics`: those that reports show; the
    scenario's primary one if empty.
    """

    scenario: Scenario
    options: RunOptions = field(default_factory=RunOptions)
    gates: tuple[Gate, ...] = ()
    models: tuple[str, ...] | None = None
    metrics: tuple[str, ...] = ()
    description: str = ""
