"""A run with benchmarks: gathered report by report, judged as a whole, written and shown."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import pytest

from pytest_puma.analysis import cross_cell
from pytest_puma.analysis.contrasts import contrasts_of, leaders
from pytest_puma.analysis.front import fronts
from pytest_puma.analysis.robustness import robustness, variant_shifts
from pytest_puma.core import Outcome, Run, Verdict
from pytest_puma.errors import naming
from pytest_puma.models.contents import weights_of
from pytest_puma.planning.settings import Settings
from pytest_puma.platform.signals import deferred
from pytest_puma.runs.comparison import RunComparison, compare
from pytest_puma.runs.past_run import PastRun
from pytest_puma.session.controller import whole_run
from pytest_puma.session.controller.arrivals import Arrivals, taken
from pytest_puma.session.controller.baseline_updates import BaselineUpdater
from pytest_puma.session.controller.notes import ShortSummary, show_summary, start_notes
from pytest_puma.session.controller.output import Output
from pytest_puma.session.items.memory import rare_collections
from pytest_puma.session.items.responders import finish_store
from pytest_puma.session.settings.config import settings_of
from pytest_puma.session.settings.invocation import invocation
from pytest_puma.session.signals import EndSignals, at_the_end
from pytest_puma.session.workers.xdist import end_of, explained, run_id

#: What the last line of the first run of a project names, unless the run did it.
_PAGE = "--puma-report html:report.html shows every answer in a browser"
_BASELINE = "--puma-update-baseline stores these answers, and later runs are compared with them"


class BenchmarkRun:
    """Gathers the outcomes of a run, judges it and reports it. `clock`: the time of its start, by `time.monotonic`."""

    def __init__(self, config: pytest.Config, clock: float) -> None:
        self._config, self._clock = config, clock
        self._settings = settings_of(config)
        self._invocation = invocation(config)
        self.arrivals = Arrivals()
        self._baselines = BaselineUpdater(config, self._settings)
        self._output = Output(config, self._settings)
        self._run: Run | None = None
        self._comparison: RunComparison | None = None
        self._lines: list[str] = []
        self._ended = False
        self._end_signals = EndSignals(config)
        self._end_signals.handle()
        config.pluginmanager.register(ShortSummary(config), "puma-short-summary")

    def start_notes(self) -> list[str]:
        """Return the lines to show before the first test."""
        cells = self.arrivals.cells
        return start_notes(self._config, cells, self._baselines.note(cells), self._output.unwritable)

    def receive(self, report: pytest.TestReport) -> None:
        """Keep what a report has: an outcome, a fault, or predictions without scores."""
        # The table and the run folder have the same cells, whenever the run is interrupted.
        with deferred(), rare_collections():
            outcome = self.arrivals.receive(report)
            if unassessed := taken(report, "puma_unassessed"):
                self._output.add(unassessed)
            if outcome is not None:
                self._output.add(outcome)
                self._baselines.take(report.nodeid, outcome)

    def explain_crash(self, test: str, report: pytest.TestReport) -> None:
        """Put what ended the worker of a cell into the report on its crash."""
        computed = self.arrivals.computed(test)
        if computed is not None:
            report.longrepr = explained(str(report.longrepr), end_of(report.node), computed=computed)

    def judge(self, session: pytest.Session) -> None:
        """Judge the run as a whole after its last test, and write its files."""
        arrivals, policy = self.arrivals, self._settings.judging.policy
        if not arrivals.planned:
            return
        unused = whole_run.unused_gates(self._settings.judging.gates, arrivals)
        judged = cross_cell.verdicts(arrivals.outcomes, policy)
        faults = whole_run.problems(self._config, arrivals, unused, self._baselines)
        run = self._finish((*judged, *unused), faults, lambda: self._baselines.finish(arrivals.collected))
        for verdict in judged:
            whole_run.report_gate(self._config, verdict)
        whole_run.report_problems(self._config, run.problems)
        if run.problems or any(verdict.fails for verdict in judged):
            # Hooks of others may have made these reports pass.
            session.testsfailed = max(session.testsfailed, 1)

    def stop(self) -> None:
        """Write the files of a run that did not reach its end, and end the handling of signals."""
        if self._run is None and (self.arrivals.outcomes or self.arrivals.faults):
            # An interrupted run has no test for its problems.
            with at_the_end():
                run = self._finish((), (whole_run.stopped(self.arrivals),), self._baselines.skip)
            self._lines += run.problems
        self._end_signals.restore()

    def show(self, terminalreporter: Any) -> None:
        """Show the tables of the run."""
        if self._run is None or not self._run.outcomes:
            return
        with at_the_end(), deferred():
            self.finish_store()
            if self._output.comparison:
                self._lines.append(f"compare: {self._output.comparison}")
            elif self._output.folder is not None and (steps := _next_steps(self._settings)):
                self._lines.append(f"next: {'; '.join(steps)}")
            shown = self._run, self._output.folder, self._lines
            show_summary(self._config, terminalreporter, *shown, comparison=self._comparison)

    def finish_store(self) -> None:
        """End the run for the store, once: by now all processes of the run have ended, also if it was interrupted."""
        answers = not all(model.is_read for model in self._settings.request.models)
        if answers and self._run is not None and self._run.outcomes and not self._ended:
            self._ended = True
            self._lines += finish_store(self._config)

    def _finish(
        self, verdicts: tuple[Verdict, ...], problems: tuple[str, ...], baselines: Callable[[], list[str]]
    ) -> Run:
        outcomes, faults, settings = self.arrivals.outcomes, self.arrivals.faults, self._settings
        models = settings.request.models
        if faults:
            self._output.open()
        self._comparison = self._compared(outcomes)
        earlier = () if self._comparison is None else self._comparison.contrasts
        varied = any(model.variant is not None for model in models)
        compares = varied or not {"strategy", "model"}.isdisjoint(settings.judging.compare)
        weights = weights_of(models) if compares else {}
        sizes = {name: found.size for name, found in weights.items()}
        run = Run(
            id="" if self._output.folder is None else self._output.folder.name,
            started=run_id(self._config)[1].isoformat(timespec="seconds"),
            environment=_environment(),
            invocation=self._invocation,
            seconds=time.monotonic() - self._clock,
            outcomes=outcomes,
            verdicts=verdicts,
            problems=problems,
            faults=faults,
            robustness=robustness(outcomes, settings.registry.perturbations),
            variants=variant_shifts(outcomes),
            weights=weights if varied else {},
            fronts=fronts(outcomes, sizes),
            best=leaders(outcomes, sizes) if compares else (),
            contrasts=(*contrasts_of(outcomes, settings.judging.compare), *earlier),
            unchanged=self.arrivals.unchanged,
            rescored_from=None if settings.request.rescored is None else settings.request.rescored.name,
        )
        with deferred():
            self._run, self._lines = self._output.finish(run, baselines)
        return self._run

    def _compared(self, outcomes: Sequence[Outcome]) -> RunComparison | None:
        """The comparison with an earlier run, by the files of both; None if it was not requested, or is impossible."""
        earlier, folder = self._settings.judging.earlier, self._output.folder
        if earlier is None or folder is None:
            return None
        # Only now its predictions are read, which may be damaged.
        with self._output.survives("the comparison"), naming(f"the comparison with {earlier.name}"):
            return compare(outcomes, PastRun(folder).answered, earlier, name="this run")
        return None


def _next_steps(settings: Settings) -> list[str]:
    has_page = any(report.format == "html" for report in settings.reports.files)
    return [*([] if has_page else [_PAGE]), *([] if settings.judging.policy.accepts else [_BASELINE])]


def _environment() -> dict[str, str]:
    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "pytest": version("pytest"),
        "pytest-puma": version("pytest-puma"),
    }
