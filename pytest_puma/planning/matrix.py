"""Options, markers and run-specs become cells: scenario x strategy x model, in the order in which they run.

A cell's id is `scenario-strategy@model`, as in `triage_jira-few_shot_3@qwen2.5-3b`; under a perturbation it is
`scenario-strategy+perturbation@model`. The names before the `@` have no hyphen, no `+` and no `@`; what follows it is
the model's name. The command line wins over the marker, and the marker over the ini file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache, partial
from typing import Any

from pytest_puma.core import Gate, Model, Scenario, SettingsError
from pytest_puma.core.gate import PLAIN
from pytest_puma.core.variant import PLUS, plain_name
from pytest_puma.datasets.fields import Groups, group_values, matches, no_subject
from pytest_puma.evaluation.cell import DEFAULT_SAMPLES, DEFAULT_SEED, Cell
from pytest_puma.gates.grammar import applies
from pytest_puma.metrics.library.divergence import NAMES, is_distance
from pytest_puma.metrics.library.trials import RETRY_RATE
from pytest_puma.models.names import resolve_name, select_variants
from pytest_puma.planning.scores import Checks, used_scores
from pytest_puma.planning.settings import DEFAULTS, BenchmarkSpec, RunOptions, Settings
from pytest_puma.planning.unmatched import check_own_gates
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.tested import TESTED
from pytest_puma.scenarios.declared import check_class, check_declared, check_name

#: `samples='all'` is refused for data with as many samples: a scenario that generates its rows never ends.
TOO_MANY_SAMPLES = 100_000


def make_scenario(requested: Any, settings: Settings, *, where: str = "the marker") -> Scenario:
    """Return a scenario given by name, class or instance; on the user's own data if `--puma-data` names some."""
    if isinstance(requested, Scenario):
        scenario = requested
    elif isinstance(requested, type) and issubclass(requested, Scenario):
        check_class(requested)
        scenario = _class_of(requested, settings)()
    elif isinstance(requested, str):
        scenario = _class_of(settings.registry.known_scenario(requested, where=where), settings)()
    else:
        msg = f"{where}: the scenario is {requested!r}; expected a name, a Scenario class or an instance of one"
        raise SettingsError(msg)
    check_name(scenario)
    path = settings.request.data.get(scenario.name)
    on_file = scenario if path is None else scenario.on_file(path)
    if on_file is None:
        msg = f"--puma-data {scenario.name}={path}: this scenario reads no file; expected one that is a FileScenario"
        raise SettingsError(msg)
    check_declared(on_file)
    return on_file


def _class_of(scenario: type[Scenario], settings: Settings) -> type[Scenario]:
    """The scenario, with the tests of its programs if these may be run."""
    return scenario if settings.request.run_code == "off" else TESTED.get(scenario, scenario)


def expand(spec: BenchmarkSpec, settings: Settings) -> list[Cell]:
    """Return the cells of a spec with their gates, model by model; perturbed cells follow their twin."""
    options = (
        settings.request.command.with_defaults(spec.options).with_defaults(settings.request.ini).with_defaults(DEFAULTS)
    )
    generation = options.generation()
    seed = DEFAULT_SEED if options.seed is None else options.seed
    subjects = _subjects(spec, settings, seed)
    samples = options.samples or DEFAULT_SAMPLES
    if samples == "all":
        samples = _all_samples(spec.scenario, seed, subjects, settings)
    primary = (spec.scenario.primary_metric(),)
    groups = Groups(spec.scenario, seed) if settings.request.runs(spec.scenario.name) else None
    checks = Checks(spec.scenario, settings.registry, groups)
    general = [gate for gate in settings.judging.gates if checks.may_apply(gate)]
    _check_metrics(spec.metrics, checks)
    scores = cache(partial(used_scores, spec.scenario, settings.registry))
    shown = (*(spec.metrics or primary), *((RETRY_RATE,) if options.retries else ()))
    cells = []
    models = _models(spec, settings)
    # A variant is compared with its plain model, by all metrics that are shown.
    varied = _are_varied(models, settings)
    compared_metrics = (*primary, *shown) if varied else primary if options.perturb or settings.judging.compare else ()
    for model in models:
        for name in options.strategies or spec.scenario.strategies or spec.scenario.kind.strategies:
            cell = Cell(
                scenario=spec.scenario,
                strategy=settings.registry.strategy(name),
                model=model,
                samples=samples,
                every=options.samples == "all",
                repeats=options.repeats or 1,
                # Given answers are as many as they are.
                retries=0 if model.source == "answers" else options.retries or 0,
                prompt_suffix=spec.scenario.prompt_suffix if options.prompt_suffix is None else options.prompt_suffix,
                subjects=subjects,
                seed=seed,
                generation=generation,
                gates=spec.gates,
                metrics=tuple(dict.fromkeys(shown)),
                compared_metrics=tuple(dict.fromkeys(compared_metrics)),
            )
            for twin in _twins(cell, options, settings):
                gated = _with_plain_metrics(_with_gates(twin, general, checks), [*spec.gates, *general], models)
                compared = _with_gated_metrics(gated) if settings.judging.compare else gated
                distant = _with_distances(compared, settings)
                scored = replace(distant, scores=scores(_named_metrics(distant)))
                cells.append(_with_judges(scored, options, settings))
    check_own_gates(spec.gates, cells, settings)
    return cells


def _are_varied(models: Iterable[Model], settings: Settings) -> bool:
    """Whether the run has variants of these models; they may be cells of another test."""
    plain = {model.plain for model in models}
    return any(model.variant is not None and model.plain in plain for model in settings.request.models)


def _twins(cell: Cell, options: RunOptions, settings: Settings) -> list[Cell]:
    """A cell and its perturbed twins."""
    perturbations = (None, *map(settings.registry.perturbation, options.perturb or ()))
    return [replace(cell, perturbation=perturbation) for perturbation in perturbations]


def _check_metrics(metrics: Iterable[str], checks: Checks) -> None:
    """Refuse a metric of a marker or run-spec that no cell can have."""
    for metric in metrics:
        if fault := checks.of_metric(metric):
            msg = f"metrics: {fault}"
            raise SettingsError(msg)


def _all_samples(scenario: Scenario, seed: int, subjects: Collection[str], settings: Settings) -> int:
    if not settings.request.runs(scenario.name):
        return DEFAULT_SAMPLES  # the data of a scenario that the options leave out may be missing
    count = len(draw(scenario, TOO_MANY_SAMPLES, seed, subjects))
    if count == TOO_MANY_SAMPLES:
        msg = f"samples is 'all', but {scenario.name} has {count} or more; expected a number"
        raise SettingsError(msg)
    return count


def _models(spec: BenchmarkSpec, settings: Settings) -> tuple[Model, ...]:
    if not settings.request.models:
        msg = "no model is named; expected --puma-model FILE.gguf, or the ini key puma_models"
        raise SettingsError(msg)
    models = settings.request.models
    if spec.models is not None:
        plain = list(dict.fromkeys(model.plain for model in models))
        chosen = [resolve_name(name, models if PLUS in name else plain).name for name in spec.models]
        fitting = (model for name in chosen for model in models if name in {model.name, model.plain.name})
        models = tuple(dict.fromkeys(fitting))
    models = models if spec.variants is None else select_variants(spec.variants, models)
    # The plain model runs before its variants, which are measured along its replies.
    names = [model.plain.name for model in models]
    return tuple(sorted(models, key=lambda model: (names.index(model.plain.name), PLUS in model.name)))


def _with_gates(cell: Cell, general: Iterable[Gate], checks: Checks) -> Cell:
    """Add the gates that apply; refuse one that can never be kept or missed."""
    gates = [gate for gate in (*cell.gates, *general) if applies(gate, cell.name)]
    for gate in gates:
        if fault := checks.of_gate(gate):
            msg = f"gate {str(gate)!r}: {fault}"
            raise SettingsError(msg)
    gates = [gate for gate in gates if _concerns(gate, cell)]
    single = [gate for gate in gates if not gate.is_cross_cell]
    cross_cell = [gate for gate in gates if gate.is_cross_cell]
    return replace(cell, gates=tuple(dict.fromkeys(single)), cross_cell_gates=tuple(dict.fromkeys(cross_cell)))


def _concerns(gate: Gate, cell: Cell) -> bool:
    """Whether a gate in whose scope a cell is concerns it."""
    if cell.name.variant is None and (gate.other == PLAIN or is_distance(gate.metric)):
        return False
    return gate.strategy is None or cell.strategy.name in {gate.strategy, gate.other}


def _with_plain_metrics(cell: Cell, gates: Iterable[Gate], models: Iterable[Model]) -> Cell:
    """Compare the metrics, too, that gates on variants of a plain model compare with it."""
    variants = [
        replace(cell.name, model=model.name)
        for model in models
        if plain_name(model.name) == cell.name.model != model.name
    ]
    compared = (gate.metric for gate in gates if gate.other == PLAIN and any(applies(gate, name) for name in variants))
    return replace(cell, compared_metrics=tuple(dict.fromkeys((*cell.compared_metrics, *compared))))


def _with_distances(cell: Cell, settings: Settings) -> Cell:
    """Measure the distance of a variant if variants are compared; a plain model is no distance away from itself."""
    if cell.name.variant is not None:
        more = NAMES if "variant" in settings.judging.compare else ()
        return replace(cell, compared_metrics=tuple(dict.fromkeys((*cell.compared_metrics, *more))))
    metrics, compared = (
        tuple(name for name in names if not is_distance(name)) for names in (cell.metrics, cell.compared_metrics)
    )
    return replace(cell, metrics=metrics, compared_metrics=compared)


def _with_gated_metrics(cell: Cell) -> Cell:
    """Compare the metrics of the gates too, after the primary metric."""
    limited = (gate.metric for gate in cell.gates if not gate.word)
    return replace(cell, compared_metrics=tuple(dict.fromkeys((*cell.compared_metrics, *limited))))


def _with_judges(cell: Cell, options: RunOptions, settings: Settings) -> Cell:
    """Add the judges if a metric asks them."""
    return replace(cell, judges=settings.request.find_judges(options.judge)) if cell.judged and options.judge else cell


def _named_metrics(cell: Cell) -> tuple[str, ...]:
    """The metrics that the cell's gates and reports name."""
    gates = (gate.metric for gate in (*cell.gates, *cell.cross_cell_gates) if not gate.word)
    return (*cell.metrics, *cell.compared_metrics, *gates)


def _subjects(spec: BenchmarkSpec, settings: Settings, seed: int) -> tuple[str, ...]:
    """Return the patterns that select the samples of a spec by their groups; empty for all samples.

    Those of a marker or run-spec must each match a group of its scenario. Those of the command line (`--puma-subject
    "law,med*"`) and of the ini file are for all scenarios: each scenario takes those that match its groups.

    A `SettingsError` names a pattern without a match, and a scenario without groups that has patterns of its own.
    """
    scenario, declared = spec.scenario, spec.options.subjects
    if not scenario.group_columns:
        if declared:
            msg = (
                f"{scenario.name}: subjects is {', '.join(declared)}, but the scenario has no groups; "
                "set its group_columns, or leave out subjects"
            )
            raise SettingsError(msg)
        return ()
    patterns = settings.request.command.subjects or declared or settings.request.ini.subjects or ()
    if not patterns or not settings.request.runs(scenario.name):
        return patterns
    values = group_values(scenario, seed)
    taken = tuple(pattern for pattern in patterns if matches(pattern, values))
    unmatched = [pattern for pattern in patterns if pattern not in taken]
    if unmatched and (patterns is declared or not taken):
        raise no_subject(unmatched[0], scenario.name, values)
    return taken
