"""The process that receives every report, as a plugin: it starts a `BenchmarkRun` with the first cell.

Under xdist this is the process that starts the workers, else the only one. Without benchmarks it imports no more than
this file.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pytest_puma.session.items.collected import cell_of
from pytest_puma.session.settings.config import model_names
from pytest_puma.session.terminal import has_terminal
from pytest_puma.session.workers.nodeid import Named, cells_in
from pytest_puma.session.workers.xdist import run_id

if TYPE_CHECKING:
    from pytest_puma.session.controller.benchmark_run import BenchmarkRun


def register(config: pytest.Config) -> None:
    """Register the controller, except in a worker and for `--puma-plan`, which runs nothing."""
    if not hasattr(config, "workerinput") and not config.option.puma_plan:
        config.pluginmanager.register(Controller(config), "puma-controller")
        if getattr(config.option, "tx", None):
            from pytest_puma.session.progress import workers

            workers.register(config)


class Controller:
    """Starts the run of the benchmarks, and forwards to it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._clock = time.monotonic()
        run_id(config)
        self._run: BenchmarkRun | None = None

    def _started(self) -> BenchmarkRun:
        if self._run is None:
            from pytest_puma.session.controller.benchmark_run import BenchmarkRun

            self._run = BenchmarkRun(self._config, self._clock)
        return self._run

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        found = ((index, item.nodeid, cell_of(item)) for index, item in enumerate(session.items))
        if cells := {index: Named(nodeid, cell.id) for index, nodeid, cell in found if cell is not None}:
            self._started().arrivals.plan(cells, certain=True)

    def pytest_report_collectionfinish(self) -> list[str]:
        return [] if self._run is None else self._run.start_notes()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        cells = cells_in(ids, lambda: model_names(self._config))
        if cells and self._started().arrivals.plan(cells, certain=False) and has_terminal(self._config):
            # This process collects nothing, so pytest shows no lines after a collection.
            with suppress(OSError):
                for note in self._started().start_notes():
                    self._config.get_terminal_writer().line(note)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        try:
            return (yield)
        finally:
            # Even if the terminal is closed, and others raise an error: what was computed is kept.
            if self._run is not None or hasattr(report, "puma_cell"):
                self._started().receive(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        if self._run is not None:
            self._run.explain_crash(crashitem, report)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        # An exception (-x, an interrupt) ends this generator here: an interrupted run is not judged.
        result = yield
        if self._run is not None and not self._config.option.collectonly:
            self._run.judge(session)
        return result

    # Before xdist waits for its workers: a second Ctrl-C may end the process meanwhile.
    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._run is not None:
            self._run.stop()
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self._config.option.puma_shard:
            # With more shards than cells and blocks, some have nothing to do. The judge names what is missing.
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._run is not None:
            self._run.show(terminalreporter)

    def pytest_unconfigure(self) -> None:
        # There is no summary if the terminal is gone.
        if self._run is not None:
            self._run.finish_store()
