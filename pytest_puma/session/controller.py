"""The side of pytest that sees every report: gathers outcomes, judges the run as a whole, reports it.

It works the same with and without xdist, where it lives in the process that starts the workers.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from pytest_puma.session.arrivals import Arrivals
from pytest_puma.session.baseline_updates import BaselineUpdater
from pytest_puma.session.collected import cell_id
from pytest_puma.session.config import model_names
from pytest_puma.session.nodeid import Named, cells_in
from pytest_puma.session.output import Output
from pytest_puma.session.sections import show, width
from pytest_puma.session.selection import is_part, is_selected

if TYPE_CHECKING:
    from pytest_puma.core import Run, Verdict

_RUN = "puma::"
_PROBLEMS_ID = f"{_RUN}run"


def register(config: pytest.Config) -> None:
    """Take part, except in a worker, and where nothing is to be run."""
    if not hasattr(config, "workerinput") and not config.option.puma_plan:
        config.pluginmanager.register(Controller(config), "puma-controller")


class Controller:
    """Plans, hears, judges and reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._started = datetime.now(timezone.utc)
        self._arrivals = Arrivals()
        self._keeper = BaselineUpdater(config)
        self._output = Output(config, self._started)
        self._run: Run | None = None
        self._told: list[str] = []

    # -- before the run --------------------------------------------------------------------------

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        return self._notes() if any(cell_id(item) for item in items) else []

    def _notes(self) -> list[str]:
        from pytest_puma.report import escape

        notes = (self._model_note(), self._device_note(), self._keeper.note(self._arrivals.cells))
        return [escape.terminal(note) for note in notes if note]

    def _model_note(self) -> str | None:
        """Said when the run is on a model that nobody chose."""
        from pytest_puma.session.config import DEMONSTRATION, names_no_model

        if not names_no_model(self._config):
            return None
        return f"puma: on the bundled demonstration model {DEMONSTRATION}; name your own by --puma-model FILE.gguf"

    def _device_note(self) -> str | None:
        """Nothing where no model is loaded, or where a plugin may compute it elsewhere."""
        if self._config.option.collectonly or self._config.hook.pytest_puma_backend.get_hookimpls():
            return None
        from pytest_puma.engine.layout import device
        from pytest_puma.engine.native import gpus, offloads
        from pytest_puma.session.config import settings_of

        return f"puma: computed on {device(settings_of(self._config).models, gpus(), offloads=offloads())}"

    # -- gathering -------------------------------------------------------------------------------

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        cells = {place: Named(item.nodeid, cell) for place, item in enumerate(session.items) if (cell := cell_id(item))}
        self._arrivals.plan(cells, certain=True)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        cells = cells_in(ids, lambda: model_names(self._config))
        first = self._arrivals.plan(cells, certain=False)
        # Nothing is collected here, so pytest has no lines for it.
        for note in self._notes() if first and cells else ():
            self._config.get_terminal_writer().line(note)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        outcome = self._arrivals.hear(report)
        if outcome is not None:
            self._output.add(outcome)
            self._keeper.take(report.nodeid, outcome)

    # -- the run as a whole ----------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        # An exception (-x, an interrupt) passes by: a run that was cut off is not judged.
        result = yield
        if self._arrivals.planned and not self._config.option.collectonly:
            not_run = self._not_run()
            judged = self._across()
            self._finish((*judged, *not_run), self._problems(not_run))
            for verdict in judged:
                self._report(
                    f"{_RUN}{verdict.gate} ({verdict.reason.partition(':')[0]})", verdict.reason, failed=verdict.fails
                )
            self._report_problems()
        return result

    def _across(self) -> tuple[Verdict, ...]:
        """The verdicts on gates about several cells."""
        from pytest_puma.analysis.cross_cell import across
        from pytest_puma.session.config import settings_of

        return tuple(across(self._arrivals.outcomes, settings_of(self._config).policy))

    def pytest_sessionfinish(self) -> None:
        if self._run is None and (self._arrivals.outcomes or self._arrivals.faults):
            self._finish((), ())
            # Nothing else reports them: the run was cut off.
            self._told += [] if self._run is None else self._run.problems

    def _finish(self, verdicts: tuple[Verdict, ...], problems: tuple[str, ...]) -> None:
        from pytest_puma.analysis.contrasts import compare
        from pytest_puma.analysis.robustness import robustness
        from pytest_puma.core import Run
        from pytest_puma.session.config import settings_of

        settings = settings_of(self._config)
        outcomes, faults = self._arrivals.outcomes, self._arrivals.faults
        if faults:
            self._output.open()
        run = Run(
            id="" if self._output.folder is None else self._output.folder.name,
            started=self._started.isoformat(timespec="seconds"),
            environment=_environment(),
            outcomes=outcomes,
            verdicts=verdicts,
            problems=problems,
            faults=faults,
            robustness=robustness(outcomes, settings.registry.perturbations),
            contrasts=compare(outcomes, settings.compare),
            unchanged=self._arrivals.unchanged,
        )
        self._run, self._told = self._output.finish(run, lambda: self._keeper.finish(self._arrivals.collected))

    def _problems(self, not_run: Sequence[Verdict]) -> tuple[str, ...]:
        """Why the run must not be green although no test failed."""
        problems = [f"{test} was planned, but no outcome of it arrived" for test in self._arrivals.missing]
        # A gate for cells that the user did not ask for is no mistake; names that exist nowhere ended the collection.
        mistakes = () if self._is_part() else not_run
        found = self._arrivals.collected
        return (*problems, *(verdict.reason for verdict in mistakes), *self._keeper.problems(found))

    def _is_part(self) -> bool:
        """Whether some cells were left out: by the user, or by a plugin that deals the tests out to several runs."""
        found = self._arrivals.collected
        dealt = found is not None and not found.cells <= set(self._arrivals.cells)
        return dealt or is_selected(self._config) or is_part(self._config)

    def _not_run(self) -> tuple[Verdict, ...]:
        """The verdicts on general gates that no cell of this run took."""
        from pytest_puma.gates import applies, not_run
        from pytest_puma.session.config import settings_of

        outcomes, cells = self._arrivals.outcomes, self._arrivals.planned
        if not outcomes:
            return ()
        taken = {verdict.gate for outcome in outcomes for verdict in outcome.verdicts}
        taken |= {gate for outcome in outcomes for gate in outcome.across}
        left = [
            gate
            for gate in settings_of(self._config).gates
            # A cell that never came to a verdict was an error, and is reported as such.
            if gate not in taken and (gate.scope is None or not any(applies(gate, each.name) for each in cells))
        ]
        return tuple(not_run(gate, f"gate {str(gate)!r} fits no cell of this run") for gate in left)

    def _report_problems(self) -> None:
        """As a test of its own, which passes where it failed before: then --lf forgets it."""
        problems = () if self._run is None else self._run.problems
        cache = getattr(self._config, "cache", None)
        remembered = cache is not None and _PROBLEMS_ID in cache.get("cache/lastfailed", {})
        if problems or remembered:
            self._report(_PROBLEMS_ID, "\n".join(f"puma: {problem}" for problem in problems), failed=bool(problems))

    def _report(self, nodeid: str, text: str, *, failed: bool) -> None:
        """A test that nobody wrote: in JUnit XML, in the exit status and, where it fails, in the summary.

        The terminal is told of no report but only of the failure: progress counts what was collected.
        """
        from pytest_puma.report import escape

        report = pytest.TestReport(
            nodeid=nodeid,
            location=("puma", None, "run"),
            keywords={},
            outcome="failed" if failed else "passed",
            longrepr=escape.terminal_lines(text) if failed else None,
            when="call",
        )
        plugins = self._config.pluginmanager
        terminal: Any = plugins.getplugin("terminalreporter")
        plugins.subset_hook_caller("pytest_runtest_logreport", [terminal])(report=report)
        if failed and terminal is not None:
            terminal.stats.setdefault("failed", []).append(report)

    # -- the summary -----------------------------------------------------------------------------

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._run is None or not self._run.outcomes:
            return
        from pytest_puma.analysis.contrasts import not_compared
        from pytest_puma.report import contrasts, robustness
        from pytest_puma.report.terminal import summary
        from pytest_puma.session.config import settings_of

        folder = "" if self._output.folder is None else os.path.relpath(self._output.folder)
        columns = width(self._config)
        show(terminalreporter, "puma", [*summary(self._run, folder, columns), *self._flips(), *self._told])
        perturbed = [*robustness.lines(self._run.robustness, columns), *robustness.not_run(self._run)]
        show(terminalreporter, "puma: perturbations", perturbed)
        nothing = not_compared(self._run.outcomes, settings_of(self._config).compare)
        show(terminalreporter, "puma: comparison", [*contrasts.lines(self._run.contrasts, columns), *nothing])

    def _flips(self) -> list[str]:
        from pytest_puma.report.terminal import flips
        from pytest_puma.session.config import settings_of

        if not settings_of(self._config).flips:
            return []
        found = [line for outcome in self._arrivals.outcomes for line in flips(outcome)]
        return found or ["flips: no answer of this run is better or worse than in a baseline"]


def _environment() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "pytest": version("pytest"),
        "pytest-puma": version("pytest-puma"),
    }
