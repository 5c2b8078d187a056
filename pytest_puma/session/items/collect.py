"""Parametrization of test functions: one item per cell. Deselection, and checks of all cells."""

from __future__ import annotations

import pytest

from pytest_puma.core import PumaError, SettingsError
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.judge import EXPECTED_JUDGE
from pytest_puma.planning import matrix
from pytest_puma.planning.marker import as_recorded, read_marker
from pytest_puma.planning.ready import Identities, check_ready
from pytest_puma.planning.shards import WHOLE
from pytest_puma.planning.unmatched import unmatched, unmatched_data, unmatched_subjects
from pytest_puma.report import escape
from pytest_puma.session.items.collected import PART, cell_of, marks, refuse
from pytest_puma.session.items.memory import rare_collections
from pytest_puma.session.settings.config import is_part, leaves_out, settings_of

_ALL_CELLS: pytest.StashKey[AllCells] = pytest.StashKey()
#: pytest replaces longer ids by numbers.
MAX_ID_LENGTH = 100


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Make one item for each cell of the marker. A mistake in it is a collection error."""
    try:
        with rare_collections():
            cells = _cells(metafunc)
    except PumaError as error:
        msg = escape.terminal_lines(f"puma: {metafunc.definition.nodeid}: {error}")
        raise pytest.Collector.CollectError(msg) from error
    metafunc.parametrize(
        ("_puma_engine", "_puma_cell"),
        [(cell.model.loaded, cell) for cell in cells],
        indirect=True,
        ids=[cell.id for cell in cells],
    )


class AllCells:
    """The cells of all tests before any is deselected, as a plugin that is registered with the first cell."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.cells: list[Cell] = []
        self.identities: Identities = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Make gates and subjects that fit no cell a collection error."""
        # After errors, some cells are unknown; the errors alone end the run.
        if session.testsfailed:
            return
        try:
            settings = settings_of(self._config)
            # Whether files with benchmarks may be left out of the collection.
            omits = leaves_out(self._config) or bool(getattr(self._config.option, "lf", False))
            # Files and gates on one command line belong together.
            part = is_part(self._config)
            foreign = settings.judging.ini_gates if part else ()
            faults = unmatched(self.cells, settings, settings.judging.gates if omits else foreign)
            if not omits:
                stated = [entry.partition("=")[0] for entry in self._config.option.puma_data or ()]
                faults += unmatched_subjects(self.cells, settings)
                faults += unmatched_data(stated if part else settings.request.data, self.cells, settings)
        except PumaError as error:  # from a scenario that fails to name its metrics
            faults = [str(error)]
        refuse(session, items, faults)


def _all_cells(config: pytest.Config) -> AllCells:
    if _ALL_CELLS not in config.stash:
        config.stash[_ALL_CELLS] = AllCells(config)
        config.pluginmanager.register(config.stash[_ALL_CELLS], "puma-all-cells")
    return config.stash[_ALL_CELLS]


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the cells that the options select, and all other tests."""
    settings = settings_of(config)
    request = settings.request
    cells = {item: cell for item in items if (cell := cell_of(item))}
    selected = {cell.id for cell in cells.values() if request.selects(cell)}
    if request.shard is not None:
        every = [cell for cell in cells.values() if cell.id in selected]
        parts = request.shard.select(every, looks=settings.judging.stop_early)
        selected = {*parts}
        for item, cell in cells.items():
            if parts.get(cell.id, WHOLE) != WHOLE:
                item.stash[PART] = parts[cell.id]
    deselected = {item: None for item, cell in cells.items() if cell.id not in selected}
    if deselected:
        config.hook.pytest_deselected(items=list(deselected))
        items[:] = [item for item in items if item not in deselected]


def _cells(metafunc: pytest.Metafunc) -> list[Cell]:
    found = _closest_marks(metafunc.definition)
    if "_puma_cell" not in metafunc.fixturenames:
        foreign = "puma" in metafunc.fixturenames
        fault = "its argument puma is another fixture of this name" if foreign else "not the argument"
        msg = f"has the puma marker but {fault}; expected def test(puma): ..."
        raise SettingsError(msg)
    if len(found) != 1:
        msg = f"has the puma argument and {len(found)} puma markers; expected one: @pytest.mark.puma('triage_jira')"
        raise SettingsError(msg)
    settings, collected = settings_of(metafunc.config), _all_cells(metafunc.config)
    benchmark = read_marker(found[0].args, found[0].kwargs, settings)
    benchmark = as_recorded(benchmark, settings.request.rescored, test=metafunc.definition.nodeid)
    cells = matrix.expand(benchmark, settings)
    long = next((cell for cell in cells if len(cell.id) > MAX_ID_LENGTH), None)
    if long is not None:
        # An alias names the model alone: the names of controls are those of their files.
        controls = ", or files of controls with shorter names" if long.name.variant else ""
        expected = f"expected at most {MAX_ID_LENGTH}: --puma-model short=FILE.gguf{controls}"
        msg = f"the id {long.id} has {len(long.id)} characters; {expected}"
        raise SettingsError(msg)
    unjudged = next((cell for cell in cells if cell.judged and not cell.judges), None)
    if unjudged is not None and not metafunc.config.hook.pytest_puma_responder.get_hookimpls():
        metric = unjudged.judged[0].name
        msg = f"{unjudged.id}: metric {metric!r} asks a judge, and none is named; expected {EXPECTED_JUDGE}"
        raise SettingsError(msg)
    collected.cells += cells
    if settings.request.runs(benchmark.scenario.name):
        check_ready(cells, settings, collected.identities, test=metafunc.definition.nodeid)
    return cells


def _closest_marks(definition: pytest.Item) -> list[pytest.Mark]:
    """Return our markers of the function, else of its class, else of its module: the closest counts, as in pytest."""
    for node in definition.iter_parents():
        if found := marks(node):
            # A class lists inherited markers first.
            return found[-1:] if isinstance(node, pytest.Class) else found
    return []
