"""Options, markers and run-specs become cells: scenario x strategy x model, in the order in which they run.

A cell's id is `scenario-strategy@model`, as in `triage_jira-few_shot_3@qwen2.5-3b`; under a perturbation it is
`scenario-strategy+perturbation@model`. The names before the `@` have no hyphen, no `+` and no `@`; what follows it is
the model's name. Where several places say how to run, the command line wins over the marker, the marker over the ini
file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from pytest_puma.asked import DEFAULTS, Choices, Request, Settings
from pytest_puma.baseline import TIMED
from pytest_puma.core import Cell, Gate, Model, Scenario, SettingsError
from pytest_puma.core.cell import DEFAULT_SEED
from pytest_puma.gates import applies
from pytest_puma.references import NAMES
from pytest_puma.scenarios.file import FileScenario
from pytest_puma.strategies import parse_strategy, resolve_generation

_MARKER = f"@pytest.mark.puma(scenario, *, gates, {', '.join(field.name for field in fields(Choices))})"


def read_marker(args: Sequence[Any], said: Mapping[str, Any], settings: Settings) -> Request:
    """What `@pytest.mark.puma(...)` asks for. A `SettingsError` says what it cannot be."""
    if len(args) == 1 and isinstance(args[0], Request):
        return args[0]
    if len(args) != 1:
        msg = f"the marker has {len(args)} positional arguments; expected one, the scenario: {_MARKER}"
        raise SettingsError(msg)
    unknown = sorted(set(said) - {"gates"} - {field.name for field in fields(Choices)})
    if unknown:
        msg = f"the marker does not know {', '.join(unknown)}; expected {_MARKER}"
        raise SettingsError(msg)
    for name in ("strategies", "perturb", "gates"):
        found = said.get(name, [])
        if not isinstance(found, (list, tuple)) or not all(isinstance(entry, str) for entry in found):
            msg = f"the marker's {name} is {found!r}; expected a list of texts"
            raise SettingsError(msg)
    choices = {name: value for name, value in said.items() if name != "gates"}
    if "strategies" in choices:
        choices["strategies"] = settings.registry.strategy_names(choices["strategies"])
    if "perturb" in choices:
        choices["perturb"] = settings.registry.perturbation_names(choices["perturb"])
    return Request(
        scenario=make_scenario(args[0], settings),
        choices=Choices(**choices),
        gates=tuple(map(settings.registry.gate, said.get("gates", ()))),
    )


def make_scenario(said: Any, settings: Settings, *, where: str = "the marker") -> Scenario:
    """A scenario from its name, its class or an instance, on the user's own data where some are named."""
    if isinstance(said, Scenario):
        scenario = said
    elif isinstance(said, type) and issubclass(said, Scenario):
        scenario = said()
    elif isinstance(said, str):
        scenario = settings.registry.known_scenario(said, where=where)()
    else:
        msg = f"{where}: the scenario is {said!r}; expected a name, a Scenario class or an instance of one"
        raise SettingsError(msg)
    if not scenario.name.isidentifier():
        msg = f"{type(scenario).__name__}: the scenario's name is {scenario.name!r}; expected letters, digits and '_'"
        raise SettingsError(msg)
    path = settings.data.get(scenario.name)
    if path is None:
        return scenario
    if not isinstance(scenario, FileScenario):
        msg = f"--puma-data {scenario.name}={path}: this scenario reads no file; expected one that is a FileScenario"
        raise SettingsError(msg)
    return type(scenario)(data=path)


def expand(request: Request, settings: Settings) -> list[Cell]:
    """The cells of a request, model-major, with the gates that apply to each; perturbed ones follow their twin."""
    choices = settings.command.over(request.choices).over(settings.ini).over(DEFAULTS)
    generation = choices.generation()
    primary = (request.scenario.primary_metric(),)
    cells = []
    for model in _models(request, settings):
        for name in choices.strategies or ():
            resolve_generation(parse_strategy(name, settings.registry.strategies), generation)
            cell = Cell(
                scenario=request.scenario,
                strategy=name,
                model=model,
                samples=choices.samples or 0,
                seed=DEFAULT_SEED if choices.seed is None else choices.seed,
                generation=generation,
                gates=request.gates,
                metrics=request.metrics or primary,
                drawn=primary if choices.perturb or settings.compare else (),
            )
            twins = (replace(cell, perturbation=perturbation) for perturbation in (None, *(choices.perturb or ())))
            cells += [_with_gates(twin, settings.gates) for twin in twins]
    taken = {gate for cell in cells for gate in (*cell.gates, *cell.across)}
    lost = [gate for gate in request.gates if gate not in taken]
    # Other strategies or perturbations than the test's own may leave a gate without its cell.
    if lost and settings.command.strategies is None and settings.command.perturb is None:
        msg = f"gate {str(lost[0])!r} fits none of its cells: {', '.join(cell.id for cell in cells)}"
        raise SettingsError(msg)
    return cells


def _models(request: Request, settings: Settings) -> tuple[Model, ...]:
    if not settings.models:
        msg = "no model is named; expected --puma-model FILE.gguf, or the ini key puma_models"
        raise SettingsError(msg)
    if request.models is None:
        return settings.models
    from pytest_puma.models import resolve_name

    return tuple(dict.fromkeys(resolve_name(name, settings.models) for name in request.models))


def _with_gates(cell: Cell, general: Sequence[Gate]) -> Cell:
    """The request's own gates must fit its scenario; general ones without a scope apply where their metric exists."""
    from pytest_puma.metrics import is_metric

    gates = [gate for gate in cell.gates if applies(gate, cell.scenario.name, cell.id)]
    wide = [gate for gate in general if applies(gate, cell.scenario.name, cell.id)]
    gates += [gate for gate in wide if gate.scope is not None or gate.word or is_metric(cell.scenario, gate.metric)]
    for gate in gates:
        _check_gate(gate, cell.scenario)
    own = [gate for gate in gates if not gate.across]
    across = [gate for gate in gates if gate.across and (gate.pick or cell.strategy in {gate.strategy, gate.other})]
    return replace(cell, gates=tuple(dict.fromkeys(own)), across=tuple(dict.fromkeys(across)))


def _check_gate(gate: Gate, scenario: Scenario) -> None:
    """Refuse what no cell of the scenario could ever have."""
    from pytest_puma.metrics import is_metric, metric_names

    programs = NAMES[scenario.task_type]
    if gate.word:
        return
    fault = ""
    if not is_metric(scenario, gate.metric):
        known = ", ".join(metric_names(scenario))
        fault = f"{scenario.name} has no metric {gate.metric!r}; there are: {known}"
    elif gate.other == "baseline" and gate.metric in TIMED:
        fault = f"baselines hold no {gate.metric}, as clocks differ; expected a number"
    elif gate.reference is not None and gate.reference not in programs:
        known = ", ".join(f"reference.{name}" for name in programs)
        fault = f"{scenario.name} has no {gate.other}; there are: {known}"
    if fault:
        msg = f"gate {str(gate)!r}: {fault}"
        raise SettingsError(msg)


def check_same(known: dict[str, Cell], cells: Iterable[Cell]) -> None:
    """Refuse two cells of one id with different settings: their numbers would be taken for each other's."""
    for cell in cells:
        other = known.setdefault(cell.id, cell)
        if _identity(other) != _identity(cell):
            msg = f"{cell.id} is asked for twice with different settings: {_identity(other)} and {_identity(cell)}"
            raise SettingsError(msg)


def _identity(cell: Cell) -> tuple[object, ...]:
    return (type(cell.scenario).__qualname__, cell.samples, cell.seed, cell.generation)


def check_ready(cells: Sequence[Cell], settings: Settings) -> None:
    """Read rows, templates and baselines now: an unusable file is a collection error, not the end of a long run."""
    from pytest_puma.evaluate import rows_of, template_of

    # Models share the templates, and all cells the rows: where the most examples are enough, fewer are.
    asked = [
        (cell, parse_strategy(name, settings.registry.strategies))
        for name, cell in {cell.strategy: cell for cell in cells}.items()
    ]
    if asked:
        rows_of(*max(asked, key=lambda each: each[1].shots))
    for cell, strategy in asked:
        template_of(cell, strategy, settings.project)
    for cell in cells:
        settings.baseline_of(cell)
