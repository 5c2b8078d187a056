"""Requested runs: `Settings` of the command line and the ini file, `BenchmarkSpec` of a marker or a run-spec."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from pytest_puma.analysis.naive_baselines import NaiveBaselines
from pytest_puma.baseline.entry import Anchor, Entry, other_label
from pytest_puma.baseline.folder import Baselines
from pytest_puma.core import Gate, Generation, Model, Policy, Scenario, SettingsError
from pytest_puma.errors import check_limits
from pytest_puma.evaluation.cell import DEFAULT_SAMPLES, DEFAULT_SEED, MAX_SEED, Cell
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.reports import Reports
from pytest_puma.planning.shards import Shard
from pytest_puma.planning.storage import Storage
from pytest_puma.runs.past_run import Older
from pytest_puma.runs.recorded_run import RecordedRun

#: The default folder of baselines.
BASELINES = "benchmarks/baselines"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Run options from one source; `None` means unset.

    `judge`: the models that metrics ask about replies, as arguments of `--puma-judge`. `perturb`: the perturbations to
    run each cell under, too. `repeats`: how often each sample is asked. `retries`: how often more if the reply has
    no valid answer. `prompt_suffix`: text at the end of each prompt. `subjects`: patterns of the groups to draw
    samples from.
    """

    strategies: tuple[str, ...] | None = None
    judge: tuple[str, ...] | None = None
    perturb: tuple[str, ...] | None = None
    samples: int | Literal["all"] | None = None
    repeats: int | None = None
    retries: int | None = None
    prompt_suffix: str | None = None
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
        for name, expected in (("strategies", "name"), ("judge", "model"), ("subjects", "pattern")):
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
                "retries": (self.retries, 0, math.inf),
                "seed": (self.seed, 0, MAX_SEED),
            }
        )
        for name in ("samples", "repeats", "retries", "seed", "max_tokens", "top_k"):
            if isinstance(getattr(self, name), float):
                msg = f"{name} is {getattr(self, name)!r}; expected a whole number"
                raise SettingsError(msg)
        if not isinstance(self.prompt_suffix, str | None):
            msg = f"prompt_suffix is {self.prompt_suffix!r}; expected a text"
            raise SettingsError(msg)
        self.generation()

    def with_defaults(self, weaker: RunOptions) -> RunOptions:
        """Return these options, completed by those of a weaker source."""
        names = [field.name for field in fields(self)]
        stated = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return replace(weaker, **stated)

    def generation(self) -> Generation:
        """Return the settings of decoding."""
        values = {name: getattr(self, name) for name in Generation.__slots__ if hasattr(self, name)}
        return Generation(**{name: value for name, value in values.items() if value is not None})


DEFAULTS = RunOptions(samples=DEFAULT_SAMPLES, seed=DEFAULT_SEED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The scenarios, models and options of a run. `command` and `ini` are the run options of both sources.

    `determinism`: the number of samples to re-run alone. `only`: the samples to run by cell, None for all. `shard`: the
    part of the cells to run, None for all. `rescored`: the run whose answers are read, None to compute them.
    `energy`: whether it is measured; `grid`: grams of CO2 for a kilowatt-hour, 0 if unknown.
    `run_code`: how programs of a model are run. `find_judges`: from arguments of `--puma-judge` to the models.
    """

    scenarios: tuple[str, ...] = ()
    models: tuple[Model, ...] = ()
    data: Mapping[str, Path] = field(default_factory=dict)
    command: RunOptions = field(default_factory=RunOptions)
    ini: RunOptions = field(default_factory=RunOptions)
    threads: int | None = None
    run_code: str = "off"
    energy: bool = False
    grid: float = 0.0
    determinism: int = 0
    only: Mapping[str, frozenset[str]] | None = None
    shard: Shard | None = None
    rescored: RecordedRun | None = None
    find_judges: Callable[[tuple[str, ...]], tuple[Model, ...]] = lambda _: ()

    def __post_init__(self) -> None:
        """Check the factor of the grid."""
        check_limits({"ini key puma_grid_g_per_kwh": (self.grid, 0, math.inf)})

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How cells are judged and compared. `ini_gates`: the part of `gates` that comes from the ini file.

    `compare`: the axes of paired tests. `earlier`: the run to compare this one with. `needs_agreement`: a gate
    on a judge needs labels of people.
    """

    gates: tuple[Gate, ...] = ()
    ini_gates: tuple[Gate, ...] = ()
    policy: Policy = field(default_factory=Policy)
    stop_early: bool = False
    flips: bool = False
    compare: tuple[str, ...] = ()
    earlier: Older | None = None
    baselines: Baselines = field(default_factory=lambda: Baselines(Path(BASELINES)))
    naive_baselines: NaiveBaselines = field(default_factory=NaiveBaselines)
    shows_naive_baselines: bool = True
    needs_agreement: bool = False

    def baseline_of(self, cell: Cell) -> Entry | None:
        """Return the baseline of a cell; None if there is none, if nothing needs it, or if its labels were others.

        By the labels of today, each answer with an old label would be wrong: a decline would look like a gain.
        """
        compares = self.flips or "baseline" in self.compare or self.policy.accepts or _needs_baseline(cell)
        entry = self.baselines.find(cell.scenario.name, cell.id) if compares else None
        if entry is None or _other_label(cell, entry):
            return None
        # A series that started with other labels starts again.
        return replace(entry, anchor=None) if entry.anchor and _other_label(cell, entry.anchor) else entry

    def why_no_baseline(self, cell: Cell) -> str:
        """Return why a cell with a gate on its baseline has none, if it has none."""
        if not _needs_baseline(cell):
            return ""
        entry = self.baselines.find(cell.scenario.name, cell.id)
        if entry is None or not (label := _other_label(cell, entry)):
            return self.baselines.why_missing(cell.name)
        return f"the baseline has the answer {label!r}, which is no label now; --puma-update-baseline makes a new one"

    def naive_baselines_of(self, cell: Cell) -> NaiveBaselines | None:
        """Return the naive baselines if reports of the cell show them or its gates need one, else None."""
        shown = self.shows_naive_baselines and cell.perturbation is None
        return self.naive_baselines if shown or any(gate.naive for gate in cell.gates) else None


def _other_label(cell: Cell, old: Entry | Anchor) -> str | None:
    """An answer that is no label of the scenario, None without one."""
    return other_label(old.answers, cell.scenario.valid_labels()) if cell.scenario.kind.form == "labels" else None


def _needs_baseline(cell: Cell) -> bool:
    return any(gate.other == "baseline" for gate in cell.gates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings outside of tests: command line and ini file, checked before any model is loaded."""

    registry: Registry = field(default_factory=Registry)
    project: Path | None = None
    request: Request = field(default_factory=Request)
    judging: Judging = field(default_factory=Judging)
    storage: Storage = field(default_factory=Storage)
    reports: Reports = field(default_factory=Reports)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkSpec:
    """Request of a marker or a run-spec: a scenario, run options and gates.

    `models` selects some of those of the command line, None for all; `variants` are patterns that select among their
    variants. `metrics`: those that reports show; the
    scenario's primary one if empty.
    """

    scenario: Scenario
    options: RunOptions = field(default_factory=RunOptions)
    gates: tuple[Gate, ...] = ()
    models: tuple[str, ...] | None = None
    variants: tuple[str, ...] | None = None
    metrics: tuple[str, ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        """Refuse patterns that select nothing."""
        if self.variants == ():
            msg = "variants is empty; expected at least one pattern, as 'polite*' or 'plain'"
            raise SettingsError(msg)
