"""The progress of the workers of pytest-xdist, shown by the process that started them.

    puma: 2 of 12 cells done; gw0 triage_jira-zero_shot@q 137 of 200 samples, about 3 min left; gw1 ...

A thread asks for a line every second. xdist's own loop writes it, between two events of workers, so that nothing else
is written at the same moment.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_puma.session.progress.meter import INPUT, Display, display_of, done
from pytest_puma.session.settings.config import model_names
from pytest_puma.session.workers.nodeid import cells_in

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

#: Seconds between two looks at the files of the workers.
SECOND = 1.0


def register(config: pytest.Config) -> None:
    """Register the progress of workers, if somebody sees it."""
    display = display_of(config)
    if isinstance(display, Display):
        config.pluginmanager.register(WorkerProgress(config, display), "puma-worker-progress")


class WorkerProgress:
    """Reads the files of the workers while benchmarks run."""

    def __init__(self, config: pytest.Config, display: Display) -> None:
        self._config, self._display = config, display
        self._folder: Path | None = None
        self._cells = 0
        self._finished: set[tuple[str, object]] = set()
        self._due = 0.0
        self._ticks: threading.Thread | None = None
        self._stopped = threading.Event()

    # -- the workers -----------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: WorkerController) -> None:
        """Give a worker its file."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="pytest-puma-"))
        node.workerinput[INPUT] = str(self._folder / node.gateway.id)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Begin with the collection of the first worker, if it has cells."""
        cells = len(cells_in(ids, lambda: model_names(self._config)))
        if cells and self._ticks is None:
            self._cells, self._due = cells, time.monotonic() + self._display.patience
            self._ticks = threading.Thread(target=self._tick, name="puma-progress", daemon=True)
            self._ticks.start()

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_testnodedown(self, node: WorkerController) -> None:
        """Forget a worker, which may have crashed in the middle of a cell."""
        self._display.clear()
        if self._folder is not None:
            (self._folder / node.gateway.id).unlink(missing_ok=True)

    # -- others write ----------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Leave the line to pytest."""
        self._display.clear()

    pytest_runtest_logfinish = pytest_runtest_logstart

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Leave the line to pytest, and count the cells."""
        self._display.clear()
        if report.when == "teardown" and getattr(report, "puma_cell", None) is not None:
            self._finished.add((report.nodeid, getattr(report, "puma_index", None)))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """End with the last test, also after an interrupt."""
        try:
            return (yield)
        finally:
            self._stopped.set()
            if self._ticks is not None:
                self._ticks.join()
            self._display.clear()

    def pytest_unconfigure(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    # -- the line --------------------------------------------------------------------------------

    def _tick(self) -> None:
        """Ask xdist's loop for a line every second: it calls the method `worker_NAME` of an event NAME in its queue."""
        session: Any = self._config.pluginmanager.getplugin("dsession")
        session.worker_puma_progress = self.show
        while not self._stopped.wait(SECOND):
            session.queue.put(("puma_progress", {}))

    def show(self) -> None:
        """Show what the workers wrote, if it is time for the next line."""
        now = time.monotonic()
        if self._folder is None or now < self._due:
            return
        try:
            files = sorted(self._folder.iterdir(), key=lambda file: (len(file.name), file.name))
            lines = {file.name: file.read_text(encoding="utf-8") for file in files}
        except OSError:
            # A worker has ended its cell meanwhile, or somebody cleans up temporary files.
            return
        workers = [f"{name} {line}" for name, line in lines.items() if line]
        if workers:
            self._due = now + self._display.pace
            self._display.show(done(len(self._finished), self._cells) + "; ".join(workers))
