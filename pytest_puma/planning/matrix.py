"""Options, markers and run-specs become cells: scenario x strategy x model, in the order in which they run.

A cell's id is `scenario-strategy@model`, as in `triage_jira-few_shot_3@qwen2.5-3b`; under a perturbation it is
`scenario-strategy+perturbation@model`. The names before the `@` have no hyphen, no `+` and no `@`; what follows it is
the model's name. The command line wins over the marker, and the marker over the ini file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from pytest_puma.core import Gate, Model, Scenario, SettingsError
from pytest_puma.core.metric_name import MetricName
from pytest_puma.datasets.groups import Groups
from pytest_puma.evaluation.cell import DEFAULT_SAMPLES, DEFAULT_SEED, Cell
from pytest_puma.gates.grammar import applies
from pytest_puma.metrics import declaration, is_metric
from pytest_puma.models.names import resolve_name
from pytest_puma.phrases import named
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.scores import available_scores, check_metric, used_scores
from pytest_puma.planning.settings import DEFAULTS, BenchmarkSpec, Settings
from pytest_puma.planning.subjects import subjects_of
from pytest_puma.planning.unmatched import check_own_gates
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.declared import check_class, check_declared, check_name

#: `samples='all'` is refused for data with as many samples: a scenario that generates its rows never ends.
TOO_MANY_SAMPLES = 100_000


def make_scenario(requested: Any, settings: Settings, *, where: str = "the marker") -> Scenario:
    """Return a scenario given by name, class or instance; on the user's own data if `--puma-data` names some."""
    if isinstance(requested, Scenario):
        scenario = requested
    elif isinstance(requested, type) and issubclass(requested, Scenario):
        check_class(requested)
        scenario = requested()
    elif isinstance(requested, str):
        scenario = settings.registry.known_scenario(requested, where=where)()
    else:
        msg = f"{where}: the scenario is {requested!r}; expected a name, a Scenario class or an instance of one"
        raise SettingsError(msg)
    check_name(scenario)
    path = settings.request.data.get(scenario.name)
    if path is not None:
        scenario = _on_file(scenario, path)
    check_declared(scenario)
    return scenario


def _on_file(scenario: Scenario, path: Path) -> Scenario:
    """Return the scenario on the user's own data."""
    changed = scenario.on_file(path)
    if changed is None:
        msg = f"--puma-data {scenario.name}={path}: this scenario reads no file; expected one that is a FileScenario"
        raise SettingsError(msg)
    return changed


def expand(spec: BenchmarkSpec, settings: Settings) -> list[Cell]:
    """Return the cells of a spec with their gates, model by model; perturbed cells follow their twin."""
    options = (
        settings.request.command.with_defaults(spec.options).with_defaults(settings.request.ini).with_defaults(DEFAULTS)
    )
    generation = options.generation()
    seed = DEFAULT_SEED if options.seed is None else options.seed
    subjects = subjects_of(spec, settings, seed)
    samples = options.samples or DEFAULT_SAMPLES
    if samples == "all":
        # The data of a scenario that the options leave out may be missing.
        is_run = settings.request.runs(spec.scenario.name)
        samples = _all_samples(spec.scenario, seed, subjects) if is_run else DEFAULT_SAMPLES
    primary = (spec.scenario.primary_metric(),)
    # Most cells have the same gates and metrics, and each look at what a scenario has costs milliseconds.
    groups = Groups(spec.scenario, seed) if settings.request.runs(spec.scenario.name) else None
    general = _general_gates(spec.scenario, settings, groups)
    check = cache(partial(_check_gate, spec.scenario, settings.registry, groups))
    _check_metrics(spec, settings.registry, groups)
    scores = cache(partial(used_scores, spec.scenario, settings.registry))
    cells = []
    for model in _models(spec, settings):
        for name in options.strategies or spec.scenario.strategies or spec.scenario.kind.strategies:
            cell = Cell(
                scenario=spec.scenario,
                strategy=settings.registry.strategy(name),
                model=model,
                samples=samples,
                every=options.samples == "all",
                repeats=options.repeats or 1,
                subjects=subjects,
                seed=seed,
                generation=generation,
                gates=spec.gates,
                metrics=spec.metrics or primary,
                compared_metrics=primary if options.perturb or settings.judging.compare else (),
            )
            perturbations = (None, *map(settings.registry.perturbation, options.perturb or ()))
            twins = (replace(cell, perturbation=perturbation) for perturbation in perturbations)
            gated = [_with_gates(twin, general, check) for twin in twins]
            compared = [_with_gated_metrics(twin) for twin in gated] if settings.judging.compare else gated
            cells += [replace(twin, scores=scores(_named_metrics(twin))) for twin in compared]
    check_own_gates(spec.gates, cells, settings)
    return cells


def _all_samples(scenario: Scenario, seed: int, subjects: Collection[str]) -> int:
    count = len(draw(scenario, TOO_MANY_SAMPLES, seed, subjects))
    if count == TOO_MANY_SAMPLES:
        msg = f"samples is 'all', but {scenario.name} has {count} or more; expected a number"
        raise SettingsError(msg)
    return count


def _models(spec: BenchmarkSpec, settings: Settings) -> tuple[Model, ...]:
    if not settings.request.models:
        msg = "no model is named; expected --puma-model FILE.gguf, or the ini key puma_models"
        raise SettingsError(msg)
    if spec.models is None:
        return settings.request.models
    return tuple(dict.fromkeys(resolve_name(name, settings.request.models) for name in spec.models))


def _general_gates(scenario: Scenario, settings: Settings, groups: Groups | None) -> list[Gate]:
    """The gates of the run that may apply to a cell of the scenario: one without a scope needs its metric and group."""
    available = available_scores(scenario, settings.registry)
    return [
        gate
        for gate in settings.judging.gates
        if gate.scope is not None
        or gate.word
        or (is_metric(scenario, gate.metric, available) and not _without_rows(gate.metric, groups))
    ]


def _with_gates(cell: Cell, general: Iterable[Gate], check: Callable[[Gate], None]) -> Cell:
    """Add the gates that apply; `check` refuses one that can never be kept or missed."""
    gates = [gate for gate in (*cell.gates, *general) if applies(gate, cell.name)]
    for gate in gates:
        check(gate)
    single = [gate for gate in gates if not gate.is_cross_cell]
    cross_cell = [
        gate
        for gate in gates
        if gate.is_cross_cell and (gate.pick or cell.strategy.name in {gate.strategy, gate.other})
    ]
    return replace(cell, gates=tuple(dict.fromkeys(single)), cross_cell_gates=tuple(dict.fromkeys(cross_cell)))


def _with_gated_metrics(cell: Cell) -> Cell:
    """Compare the metrics of the gates too, after the primary metric."""
    limited = (gate.metric for gate in cell.gates if not gate.word)
    return replace(cell, compared_metrics=tuple(dict.fromkeys((*cell.compared_metrics, *limited))))


def _named_metrics(cell: Cell) -> tuple[str, ...]:
    """The metrics that the cell's gates and reports name."""
    gates = (gate.metric for gate in (*cell.gates, *cell.cross_cell_gates) if not gate.word)
    return (*cell.metrics, *cell.compared_metrics, *gates)


def _check_metrics(spec: BenchmarkSpec, registry: Registry, groups: Groups | None) -> None:
    """Refuse a metric that the scenario does not have, or of a group that no row has."""
    for metric in spec.metrics:
        if fault := check_metric(spec.scenario, registry, metric) or _without_rows(metric, groups):
            msg = f"metrics: {fault}"
            raise SettingsError(msg)


def _without_rows(metric: str, groups: Groups | None) -> str:
    """Return why the group of a metric has no rows; empty if it has, or if the rows are not read (None)."""
    return "" if groups is None else groups.absent(MetricName.parse(metric).slice)


def _check_gate(scenario: Scenario, registry: Registry, groups: Groups | None, gate: Gate) -> None:
    """Refuse a gate that can never apply to the scenario."""
    if gate.word:
        return
    metric = gate.metric
    fault = check_metric(scenario, registry, metric) or _unfit(gate, scenario)
    fault = fault or _out_of_bounds(gate, scenario, registry) or _without_rows(metric, groups)
    if fault:
        msg = f"gate {str(gate)!r}: {fault}"
        raise SettingsError(msg)


def _out_of_bounds(gate: Gate, scenario: Scenario, registry: Registry) -> str:
    """Return why each value of the metric keeps the gate, or none does; empty if its limit makes a difference."""
    statistic = declaration(scenario, gate.metric, available_scores(scenario, registry))
    if statistic is None or statistic.bounds is None or gate.quotient:
        return ""
    low, high = statistic.bounds
    reach = (low, high) if gate.other is None else (low - high, high - low)
    if reach[0] <= gate.limit <= reach[1]:
        return ""
    is_percentage = (low, high) == (0, 1) and 1 < abs(gate.limit) <= 100  # noqa: PLR2004 - in percent
    hint = f"did you mean {abs(gate.limit) / 100:g}?" if is_percentage else "expected a number in this range"
    change = "" if gate.other is None else f", and changes by at most {high - low:g}"
    return f"{gate.metric} is {low:g} to {high:g}{change}; {hint}"


def _unfit(gate: Gate, scenario: Scenario) -> str:
    """Return why a gate cannot limit an existing metric, empty if it can."""
    from pytest_puma.metrics import source_of

    metric, programs = MetricName.parse(gate.metric).base, scenario.kind.naive_baselines
    source = source_of(metric)
    if gate.other == "baseline" and source == "clock":
        return f"baselines hold no {metric}, as clocks differ; expected a number"
    if gate.other == "baseline" and source == "log-probabilities":
        return f"baselines hold no log-probabilities, so {metric} cannot be compared; expected a number"
    if metric == "mce":
        return "mce is the gap of one bin, mostly one of few samples, and large by chance; expected brier, or ece"
    if gate.naive is not None and gate.naive not in programs:
        return f"{scenario.name} has no {gate.other}; there are: {named(f'naive.{name}' for name in programs)}"
    return ""
