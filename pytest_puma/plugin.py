"""The pytest plugin. Every hook forwards to `session/`, which is imported on first use.

In a project without puma tests, `pytest` imports this file alone.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling
    from xdist.workermanage import WorkerController

    from pytest_puma.core import Outcome, Responder
    from pytest_puma.evaluation.cell import Cell


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_puma import hooks

    pluginmanager.add_hookspecs(hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    from pytest_puma.session.settings.options import add_options

    add_options(parser)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser, args: list[str]) -> Generator[None]:
    from pytest_puma.session.settings.options import check_options

    yield
    check_options(parser, args)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    from pytest_puma.session.controller.controller import register
    from pytest_puma.session.items.collected import NAME, Collecting
    from pytest_puma.session.settings.config import check_command_line

    config.addinivalue_line("markers", "puma(scenario, *, strategies, samples, seed, gates, ...): a benchmark")
    check_command_line(config)
    config.pluginmanager.register(Collecting(), NAME)
    register(config)
    if config.option.puma_plan:
        from pytest_puma.session.items.planner import Planner

        config.pluginmanager.register(Planner(config), "puma-planner")


def pytest_report_header(config: pytest.Config) -> str | None:
    if not getattr(config.option, "tx", None):
        return None
    from pytest_puma.session.workers.xdist import header

    return header(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix not in {".yaml", ".yml"}:
        return None
    from pytest_puma.session.items.spec_files import spec_file

    return spec_file(file_path, parent)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    # A project may have its own fixture named puma; only ours needs a cell. The marker of a class or module may be for
    # other tests.
    if "_puma_cell" in metafunc.fixturenames or any(mark.name == "puma" for mark in metafunc.definition.own_markers):
        from pytest_puma.session.items.collect import parametrize

        parametrize(metafunc)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    option = config.option
    if option.puma_scenario or option.puma_only_flips or option.puma_rescore or option.puma_shard:
        from pytest_puma.session.items.collect import deselect

        deselect(config, items)


@pytest.fixture(scope="session")
def _puma_engine(request: pytest.FixtureRequest) -> Iterator[Responder]:
    """The engine of a model: loaded for its first cell, freed before the next model loads. Or a reader of answers."""
    from pytest_puma.session.items.responders import open_responder

    if not hasattr(request, "param"):
        fault = "puma: the fixture puma was requested while a test without cells runs"
        expected = "the marker @pytest.mark.puma(...) and the argument: def test(puma): ..."
        pytest.fail(f"{fault}; expected {expected}", pytrace=False)
    with open_responder(request.config, request.param) as engine:
        yield engine


@pytest.fixture(scope="session")
def _puma_cell(request: pytest.FixtureRequest) -> Cell:
    """The cell of an item."""
    cell: Cell = request.param
    return cell


@pytest.fixture
def puma(request: pytest.FixtureRequest, _puma_engine: Responder, _puma_cell: Cell) -> Outcome:
    """The outcome of the cell: `puma["f1_macro"]` is a value, `puma.predictions` are the predictions."""
    from pytest_puma.session.items.item import run

    return run(request.node, _puma_cell, _puma_engine)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    from pytest_puma.session.items.collected import refuse_unused

    report = yield
    refuse_unused(collector, report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    if "_puma_cell" not in getattr(item, "fixturenames", ()):
        return (yield)
    from pytest_puma.session.items.item import prepared

    return (yield from prepared(item))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    # Not "puma": a project may have its own fixture with this name.
    if "_puma_cell" not in pyfuncitem.fixturenames:
        result = yield
        if any(mark.name == "puma" for mark in pyfuncitem.own_markers):
            pytest.fail("puma: the puma marker came while the test ran, where it makes no cells", pytrace=False)
        return result
    from pytest_puma.session.items.item import judged

    return (yield from judged(pyfuncitem))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    from pytest_puma.session.items.collected import cell_of

    report = yield
    cell = cell_of(item)
    if cell is not None:
        from pytest_puma.session.items.item import attach

        attach(item, cell, call, report)
    return report


def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> tuple[str, str, str] | None:
    value = getattr(report, "puma_value", None)
    if value is None or config.get_verbosity(pytest.Config.VERBOSITY_TEST_CASES) <= 0:
        return None
    from pytest_puma.session.items.failing import status

    return status(report, value)


# These two run before the hooks of xdist, which always return a value.
@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    from pytest_puma.session.workers.xdist import auto_workers

    return auto_workers(config)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    from pytest_puma.session.workers.scheduling import make_scheduler

    return make_scheduler(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    from pytest_puma.session.workers.xdist import add_worker_input

    add_worker_input(node.config, node.workerinput)
