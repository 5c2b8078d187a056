"""Gates and subjects that match no cell: typing errors are found before any model is loaded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TypeVar

from pytest_puma.core import CellId, Gate, Scenario, SettingsError
from pytest_puma.core.gate import PLAIN
from pytest_puma.core.metric_name import MetricName, Slice
from pytest_puma.core.variant import PLUS
from pytest_puma.datasets.fields import Groups, group_values, no_subject
from pytest_puma.evaluation.cell import Cell
from pytest_puma.metrics import metric_names
from pytest_puma.metrics.library.divergence import is_distance
from pytest_puma.metrics.library.repeated import of_family
from pytest_puma.phrases import named, there_are
from pytest_puma.planning.scores import available_scores
from pytest_puma.planning.settings import Settings
from pytest_puma.scenarios.declared import check_declared
from pytest_puma.strategies import ALL

T = TypeVar("T")
#: The number of cells that a message names.
MAX_NAMED = 4


def unmatched(cells: Sequence[Cell], settings: Settings, elsewhere: Collection[Gate]) -> list[str]:
    """Return a sentence for each gate that matches no collected cell.

    Gates in `elsewhere` may concern tests that were not collected, or models or strategies of other runs; an unknown
    name in them is an error all the same.
    """
    names = _Names(cells, settings)
    unused = [gate for gate in settings.judging.gates if not (is_taken(gate, cells) or _idle(gate, settings))]
    faults = {gate: _unknown(gate, names, may_be_elsewhere=gate in elsewhere) for gate in unused}
    return [f"gate {str(gate)!r}: {fault}" for gate, fault in faults.items() if fault]


def check_own_gates(gates: Iterable[Gate], cells: Sequence[Cell], settings: Settings) -> None:
    """Refuse a gate of a test that matches none of its cells.

    Strategies or perturbations of the command line, or those of a run that is rescored, may replace the cell of a
    gate; an unknown name in its scope is an error all the same.
    """
    command, names = settings.request.command, _Names(cells, settings)
    replaced = command.strategies is not None or command.perturb is not None or settings.request.rescored is not None
    for gate in gates:
        if is_taken(gate, cells) or _idle(gate, settings):
            continue
        if fault := _unknown_name(CellId.parse(gate.scope or "*"), names):
            msg = f"gate {str(gate)!r}: {fault}"
            raise SettingsError(msg)
        if not replaced:
            msg = f"gate {str(gate)!r} fits none of its cells: {', '.join(cell.id for cell in cells)}"
            raise SettingsError(msg)


def is_taken(gate: Gate, cells: Collection[Cell]) -> bool:
    """Whether some of these cells match the gate; both sides of a gate that compares two strategies."""
    matching = [cell for cell in cells if gate in cell.gates or gate in cell.cross_cell_gates]
    if gate.strategy is None:
        return bool(matching)
    sides: dict[tuple[str, str], set[str | None]] = {}
    for cell in matching:
        sides.setdefault((cell.scenario.name, cell.model.name), set()).add(cell.strategy.name)
    return any({gate.strategy, gate.other} <= strategies for strategies in sides.values())


def _idle(gate: Gate, settings: Settings) -> bool:
    """Whether a gate is about variants alone, in a run of plain models: a test may have it for runs with variants."""
    distant = gate.other == PLAIN or is_distance(gate.metric)
    about_variants = distant or PLUS in CellId.parse(gate.scope or "*").model
    return about_variants and all(model.variant is None for model in settings.request.models)


def unmatched_subjects(cells: Sequence[Cell], settings: Settings) -> list[str]:
    """Return a sentence for each pattern of the command line that selects samples of no collected scenario."""
    cells = [cell for cell in cells if settings.request.runs(cell.scenario.name)]
    taken = {pattern for cell in cells for pattern in cell.subjects}
    unmatched = [pattern for pattern in settings.request.command.subjects or () if pattern not in taken]
    if not unmatched or not cells:
        return []
    grouped = {cell.scenario.name: cell for cell in cells if cell.scenario.group_columns}
    names = named(grouped or {cell.scenario.name: cell for cell in cells})
    if not grouped:
        return [f"--puma-subject {', '.join(unmatched)}: no scenario of this run has groups; there are: {names}"]
    values = sorted({value for cell in grouped.values() for value in group_values(cell.scenario, cell.seed)})
    return [f"--puma-subject: {no_subject(pattern, names, values)}" for pattern in unmatched]


def unmatched_data(named_files: Iterable[str], cells: Sequence[Cell], settings: Settings) -> list[str]:
    """Return a sentence for each of these names of `--puma-data` that no scenario has."""
    known = dict.fromkeys((*(cell.scenario.name for cell in cells), *sorted(settings.registry.scenarios)))
    return [
        f"--puma-data {name}={settings.request.data[name]}: no collected test has the scenario {name!r}; "
        f"{there_are(name, known)}"
        for name in named_files
        if name not in known
    ]


class _Names:
    """The names that a gate can use, found once for all gates: each scenario has to make its catalogue of metrics."""

    def __init__(self, cells: Sequence[Cell], settings: Settings) -> None:
        self.cells, self.registry, self._settings = cells, settings.registry, settings

    @property
    def scenario_names(self) -> dict[str, None]:
        return dict.fromkeys((*self.registry.scenarios, *(cell.scenario.name for cell in self.cells)))

    @cached_property
    def strategies(self) -> dict[str, None]:
        return dict.fromkeys((*ALL, *self.registry.strategies, *(cell.strategy.name for cell in self.cells)))

    @cached_property
    def metrics(self) -> dict[str, None]:
        """Metrics of the collected scenarios and of those of the registry."""
        registered = {name: scenario() for name, scenario in self.registry.scenarios.items()}
        for scenario in registered.values():
            check_declared(scenario)
        return self.metrics_of((registered | {cell.scenario.name: cell.scenario for cell in self.cells}).values())

    def metrics_of(self, scenarios: Iterable[Scenario]) -> dict[str, None]:
        """Return the names of the metrics of some scenarios."""
        different = {id(scenario): scenario for scenario in scenarios}.values()
        return {
            name: None
            for scenario in different
            for name in metric_names(scenario, available_scores(scenario, self.registry))
        }

    def absent_group(self, part: Slice | None) -> str:
        """Return why no row of the collected scenarios is in a slice; empty if one is, or if none has its columns."""
        columns = set(part.keys if part is not None else ())
        runs = self._settings.request.runs
        run = (cell for cell in self.cells if runs(cell.scenario.name))
        grouped = {cell.scenario: cell.seed for cell in run if columns <= set(cell.scenario.group_columns)}
        faults = [Groups(scenario, seed).absent(part) for scenario, seed in grouped.items()]
        return faults[0] if all(faults) and faults else ""


def _unknown(gate: Gate, names: _Names, *, may_be_elsewhere: bool) -> str:
    """Return why the gate matches no cell; empty if it may match cells that were not collected (`may_be_elsewhere`)."""
    scope = CellId.parse(gate.scope or "*")
    # A marker can name a scenario by its class, which is known only after its file was collected.
    if may_be_elsewhere and not _fits_scenario(scope.scenario, names.scenario_names):
        return ""
    if fault := _unknown_name(scope, names):
        return fault
    base = MetricName.parse(gate.metric).base
    if not gate.word and base not in names.metrics and of_family(base) is None:
        collected = names.metrics_of(cell.scenario for cell in names.cells)
        return f"no scenario has the metric {gate.metric!r}; {there_are(gate.metric, collected)}"
    if may_be_elsewhere:
        return ""
    absent = "" if gate.word else names.absent_group(MetricName.parse(gate.metric).slice)
    return absent or _unfit(scope.model or "*", names.cells)


def _unfit(model: str, cells: Sequence[Cell]) -> str:
    """Return why a scope of known names, with this pattern of models, includes no cell."""
    models = {cell.model.name: None for cell in cells}
    if not any(fnmatchcase(name, model) for name in models):
        return f"no model of this run is called {model!r}; {there_are(model, models)}"
    return f"it matches no collected cell; there are: {named((cell.id for cell in cells), MAX_NAMED)}"


def _unknown_name(scope: CellId, names: _Names) -> str:
    """Return which name of a scope is unknown; empty if there are such a scenario, strategy and perturbation."""
    if not _fits_scenario(scope.scenario, names.scenario_names):
        base = f"{scope.scenario}-{scope.strategy}" if scope.strategy else scope.scenario
        hint = _other_part(base, names.strategies, names.cells) or there_are(base, names.scenario_names)
        return f"no scenario is called {scope.scenario!r}; {hint}"
    strategy, perturbation = scope.strategy.replace("-", "_") or "*", scope.perturbation or "*"
    is_known = any(fnmatchcase(name, strategy) for name in names.strategies)
    if not is_known and _refusal(names.registry.strategy_names, [strategy]):  # any K of few_shot_K
        return f"no strategy is called {strategy!r}; {there_are(strategy, names.strategies)}"
    is_pattern = not {"*", "?"}.isdisjoint(perturbation)
    return "" if is_pattern else _refusal(names.registry.perturbation, perturbation)  # any N of typos_Npct


def _fits_scenario(pattern: str, names: Iterable[str]) -> bool:
    # `triage*` may end in the strategy's name.
    return "*" in pattern or any(fnmatchcase(name, pattern) for name in names)


def _other_part(name: str, strategies: Iterable[str], cells: Iterable[Cell]) -> str:
    """Return how to write a scope for one strategy or one model."""
    if name in strategies:
        return f"for this strategy of any scenario write '*-{name}'"
    if name in {cell.model.name for cell in cells}:
        return f"for this model write '*@{name}'"
    return ""


def _refusal(read: Callable[[T], object], name: T) -> str:
    """Return why a name is refused; empty if it is known."""
    try:
        read(name)
    except SettingsError as error:
        return str(error)
    return ""
