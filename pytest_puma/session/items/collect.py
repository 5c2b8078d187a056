"""Parametrization of test functions and run-spec files: one item per cell."""

from __future__ import annotations

import re
import types
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_puma.core import PumaError, SettingsError
from pytest_puma.evaluation.cell import Cell
from pytest_puma.planning import matrix
from pytest_puma.planning.marker import as_recorded, read_marker
from pytest_puma.planning.ready import Identities, check_ready
from pytest_puma.planning.settings import BenchmarkSpec
from pytest_puma.report import escape
from pytest_puma.session.items.collected import cell_of, marks, refuse
from pytest_puma.session.items.memory import rare_collections
from pytest_puma.session.settings.config import settings_of
from pytest_puma.session.settings.selection import is_part, leaves_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_puma.core import Outcome

_ALL_CELLS: pytest.StashKey[AllCells] = pytest.StashKey()
#: `tavern` in `test_api.tavern.yaml`, but nothing in `triage-v1.2.yaml`.
_KIND = re.compile(r"\.([A-Za-z]\w*)\.ya?ml$")
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
        [(cell.model, cell) for cell in cells],
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
        from pytest_puma.planning.unmatched import unmatched, unmatched_subjects

        try:
            settings = settings_of(self._config)
            # Whether files with benchmarks may be left out of the collection.
            omits = leaves_out(self._config) or bool(getattr(self._config.option, "lf", False))
            # Files and gates on one command line belong together.
            foreign = settings.judging.ini_gates if is_part(self._config) else ()
            faults = unmatched(self.cells, settings, settings.judging.gates if omits else foreign)
            faults += [] if omits else unmatched_subjects(self.cells, settings)
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
    deselected = {item: None for item in items if (cell := cell_of(item)) and not settings.request.selects(cell)}
    if deselected:
        config.hook.pytest_deselected(items=list(deselected))
        items[:] = [item for item in items if item not in deselected]


def spec_file(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a collector for `*.puma.yaml`, and for a YAML file on the command line unless another plugin owns it."""
    kind = _KIND.search(path.name)
    return SpecFile.from_parent(parent, path=path) if kind is None or kind[1] == "puma" else None


class SpecFile(pytest.Module):
    """A run-spec file as a test module, with a function for each spec. Only its gates can fail it."""

    def funcnamefilter(self, name: str) -> bool:
        """Ignore `python_functions`, which is about the tests of the project."""
        return name.startswith("test_")

    def _getobj(self) -> types.ModuleType:
        from pytest_puma.planning.runspec import read_specs

        module = types.ModuleType(self.path.name.partition(".")[0])
        try:
            for name, spec in read_specs(self.path, settings_of(self.config)).items():
                setattr(module, f"test_{name}", _spec_function(spec))
        except PumaError as error:
            msg = escape.terminal_lines(f"puma: {error}")
            raise self.CollectError(msg) from error
        return module


def _spec_function(benchmark: BenchmarkSpec) -> Callable[[Outcome], None]:
    @pytest.mark.puma(benchmark)
    def spec(puma: Outcome) -> None:
        """Judged by its gates."""

    spec.__doc__ = benchmark.description or spec.__doc__
    return spec


def _cells(metafunc: pytest.Metafunc) -> list[Cell]:
    found = _closest_marks(metafunc.definition)
    if "_puma_cell" not in metafunc.fixturenames:
        own = "puma" in metafunc.fixturenames
        fault = "its argument puma is another fixture of this name" if own else "not the argument"
        msg = f"has the puma marker but {fault}; expected def test(puma): ..."
        raise SettingsError(msg)
    if len(found) != 1:
        msg = f"has the puma argument and {len(found)} puma markers; expected one: @pytest.mark.puma('triage_jira')"
        raise SettingsError(msg)
    settings, collected = settings_of(metafunc.config), _all_cells(metafunc.config)
    benchmark = read_marker(found[0].args, found[0].kwargs, settings)
    benchmark = as_recorded(benchmark, settings.request.rescored, test=metafunc.definition.nodeid)
    cells = matrix.expand(benchmark, settings)
    long = next((cell.id for cell in cells if len(cell.id) > MAX_ID_LENGTH), None)
    if long is not None:
        msg = (
            f"the id {long} has {len(long)} characters; expected at most {MAX_ID_LENGTH}: --puma-model short=FILE.gguf"
        )
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
