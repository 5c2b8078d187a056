"""The process that receives every report: it gathers outcomes, judges the run as a whole, and reports it.

Under xdist this is the process that starts the workers, else the only one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pytest_puma.platform.signals import deferred
from pytest_puma.session.controller import whole_run
from pytest_puma.session.controller.arrivals import Arrivals
from pytest_puma.session.controller.baseline_updates import BaselineUpdater
from pytest_puma.session.controller.notes import ShortSummary, show_summary, start_notes
from pytest_puma.session.controller.output import Output
from pytest_puma.session.items.collected import cell_of
from pytest_puma.session.items.memory import rare_collections
from pytest_puma.session.settings.config import model_names, settings_of
from pytest_puma.session.settings.run_id import run_id
from pytest_puma.session.signals import EndSignals, at_the_end
from pytest_puma.session.terminal import has_terminal
from pytest_puma.session.workers.nodeid import Named, cells_in

if TYPE_CHECKING:
    from pytest_puma.core import Invocation, Outcome, Run, Verdict
    from pytest_puma.runs.comparison import RunComparison

#: The last line of the first run of a project.
_NEXT = (
    "next: --puma-report html:report.html shows every answer in a browser; --puma-update-baseline stores these "
    "answers, and later runs are compared with them"
)


def register(config: pytest.Config) -> None:
    """Register the controller, except in a worker and for `--puma-plan`, which runs nothing."""
    if not hasattr(config, "workerinput") and not config.option.puma_plan:
        config.pluginmanager.register(Controller(config), "puma-controller")
        config.pluginmanager.register(ShortSummary(config), "puma-short-summary")
        if getattr(config.option, "tx", None):
            from pytest_puma.session.progress import workers

            workers.register(config)


class Controller:
    """Gathers the outcomes of a run, judges it and reports it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        _, self._started = run_id(config)
        self._clock = time.monotonic()
        self._invocation: Invocation | None = None
        self._arrivals = Arrivals()
        self._baselines = BaselineUpdater(config)
        self._output = Output(config)
        self._end_signals = EndSignals(config)
        self._run: Run | None = None
        self._comparison: RunComparison | None = None
        self._lines: list[str] = []
        self._ended = False

    # -- before the run --------------------------------------------------------------------------

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        return self._start_notes() if any(map(cell_of, items)) else []

    def _start_notes(self) -> list[str]:
        cells = self._arrivals.cells
        return start_notes(self._config, cells, self._baselines.note(cells), self._output.unwritable)

    # -- gathering -------------------------------------------------------------------------------

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        found = ((place, item.nodeid, cell_of(item)) for place, item in enumerate(session.items))
        cells = {place: Named(nodeid, cell.id) for place, nodeid, cell in found if cell is not None}
        self._plan(cells, certain=True)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        cells = cells_in(ids, lambda: model_names(self._config))
        first = self._plan(cells, certain=False)
        # This process collects nothing, so pytest shows no lines after a collection.
        with suppress(OSError):
            for note in self._start_notes() if first and cells and has_terminal(self._config) else ():
                self._config.get_terminal_writer().line(note)

    def _plan(self, cells: Mapping[int, Named], *, certain: bool) -> bool:
        if cells:
            from pytest_puma.session.settings.invocation import invocation

            self._end_signals.handle()
            self._invocation = self._invocation or invocation(self._config)
        return self._arrivals.plan(cells, certain=certain)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        try:
            return (yield)
        finally:
            # Even if the terminal is closed, and others raise an error: what was computed is kept.
            self._receive(report)

    def _receive(self, report: pytest.TestReport) -> None:
        if not self._arrivals.planned and not hasattr(report, "puma_cell"):
            # A run without benchmarks imports no more than this file.
            return
        # The table and the run folder have the same cells, whenever the run is interrupted.
        with deferred(), rare_collections():
            outcome = self._arrivals.receive(report)
            if unassessed := self._arrivals.take_unassessed(report):
                self._output.add(unassessed)
            if outcome is not None:
                self._output.add(outcome)
                self._baselines.take(report.nodeid, outcome)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        computed = self._arrivals.computed(crashitem)
        if computed is not None:
            from pytest_puma.session.workers.crashed import end_of, explained

            report.longrepr = explained(str(report.longrepr), end_of(report.node), computed=computed)

    # -- the run as a whole ----------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        # An exception (-x, an interrupt) ends this generator here: an interrupted run is not judged.
        result = yield
        if self._arrivals.planned and not self._config.option.collectonly:
            unused = whole_run.unused_gates(self._config, self._arrivals)
            judged = whole_run.cross_cell_verdicts(self._config, self._arrivals)
            faults = whole_run.problems(self._config, self._arrivals, unused, self._baselines)
            run = self._finish((*judged, *unused), faults, lambda: self._baselines.finish(self._arrivals.collected))
            for verdict in judged:
                whole_run.report_gate(self._config, verdict)
            whole_run.report_problems(self._config, run.problems)
            if run.problems or any(verdict.fails for verdict in judged):
                # Hooks of others may have made these reports pass.
                session.testsfailed = max(session.testsfailed, 1)
        return result

    # Before xdist waits for its workers: a second Ctrl-C may end the process meanwhile.
    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        if self._run is None and (self._arrivals.outcomes or self._arrivals.faults):
            # An interrupted run has no test for its problems.
            with at_the_end():
                run = self._finish((), (whole_run.stopped(self._arrivals),), self._baselines.skip)
            self._lines += run.problems
        self._end_signals.restore()

    def _finish(
        self, verdicts: tuple[Verdict, ...], problems: tuple[str, ...], baselines: Callable[[], list[str]]
    ) -> Run:
        from pytest_puma.analysis.contrasts import contrasts_of
        from pytest_puma.analysis.robustness import robustness
        from pytest_puma.core import Invocation, Run

        settings = settings_of(self._config)
        outcomes, faults = self._arrivals.outcomes, self._arrivals.faults
        if faults:
            self._output.open()
        self._comparison = self._compared(outcomes)
        earlier = () if self._comparison is None else self._comparison.contrasts
        run = Run(
            id="" if self._output.folder is None else self._output.folder.name,
            started=self._started.isoformat(timespec="seconds"),
            environment=_environment(),
            invocation=self._invocation or Invocation(),
            seconds=time.monotonic() - self._clock,
            outcomes=outcomes,
            verdicts=verdicts,
            problems=problems,
            faults=faults,
            robustness=robustness(outcomes, settings.registry.perturbations),
            contrasts=(*contrasts_of(outcomes, settings.judging.compare), *earlier),
            unchanged=self._arrivals.unchanged,
            rescored_from=None if settings.request.rescored is None else settings.request.rescored.name,
        )
        with deferred():
            self._run, self._lines = self._output.finish(run, baselines)
        return self._run

    def _compared(self, outcomes: Sequence[Outcome]) -> RunComparison | None:
        """The comparison with an earlier run, by the files of both; None if it was not requested, or is impossible."""
        earlier, folder = settings_of(self._config).judging.earlier, self._output.folder
        if earlier is None or folder is None:
            return None
        from pytest_puma.errors import naming
        from pytest_puma.runs.comparison import compare
        from pytest_puma.runs.past_run import PastRun

        # Only now its predictions are read, which may be damaged.
        with self._output.survives("the comparison"), naming(f"the comparison with {earlier.name}"):
            return compare(outcomes, PastRun(folder).answered, earlier, name="this run")
        return None

    def _finish_store(self) -> list[str]:
        """End the run for the store, once: by now all processes of the run have ended, also if it was interrupted."""
        if self._ended or not any(model.computes for model in settings_of(self._config).request.models):
            return []
        from pytest_puma.session.items.responders import finish_store

        self._ended = True
        return finish_store(self._config)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._run is not None and self._run.outcomes:
            with at_the_end(), deferred():
                self._lines += self._finish_store()
                if self._output.comparison:
                    self._lines.append(f"compare: {self._output.comparison}")
                elif self._output.folder is not None:
                    self._lines.append(_NEXT)
                shown = self._run, self._output.folder, self._lines
                show_summary(self._config, terminalreporter, *shown, comparison=self._comparison)

    def pytest_unconfigure(self) -> None:
        # There is no summary if the terminal is gone.
        if self._run is not None and self._run.outcomes:
            self._finish_store()


def _environment() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "pytest": version("pytest"),
        "pytest-puma": version("pytest-puma"),
    }
