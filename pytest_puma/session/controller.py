"""The side of pytest that sees every report: gathers outcomes, judges the run as a whole, reports it.

It works the same with and without xdist, where it lives in the process that starts the workers.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from pytest_puma.session.keeper import Keeper
from pytest_puma.session.nodeid import cells_in
from pytest_puma.session.selection import is_selected
from pytest_puma.session.settings import model_names

if TYPE_CHECKING:
    from pytest_puma.core import Gate, Outcome, Run, Verdict
    from pytest_puma.report.folder import RunFolder

_RUN = "puma::"
_PROBLEMS_ID = f"{_RUN}run"


def register(config: pytest.Config) -> None:
    """Take part, except in a worker, and where nothing is to be run."""
    if not hasattr(config, "workerinput") and not config.option.puma_plan:
        config.pluginmanager.register(Controller(config), "puma-controller")


class Controller:
    """What arrived of what was planned."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._planned: dict[str, None] = {}
        self._reported: set[str] = set()
        self._silent: set[str] = set()
        self._outcomes: dict[str, Outcome] = {}
        self._folder: RunFolder | None = None
        self._run: Run | None = None
        self._started = datetime.now(timezone.utc)
        self._keeper = Keeper(config)
        self._told: list[str] = []

    # -- before the run --------------------------------------------------------------------------

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        return self._notes() if any(_is_ours(item) for item in items) else []

    def _notes(self) -> list[str]:
        return [note for note in (self._model_note(), self._keeper.note(self._cells())) if note]

    def _model_note(self) -> str | None:
        """Said when the run is on a model that nobody chose."""
        from pytest_puma.session.settings import DEMONSTRATION, names_no_model

        if not names_no_model(self._config):
            return None
        return f"puma: on the bundled demonstration model {DEMONSTRATION}; name your own by --puma-model FILE.gguf"

    # -- gathering -------------------------------------------------------------------------------

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        ours = [item.nodeid for item in session.items if _is_ours(item)]
        self._planned.update(dict.fromkeys(ours))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        ours = cells_in(ids, lambda: model_names(self._config))
        first = not self._planned
        self._planned.update(dict.fromkeys(ours))
        # Nothing is collected here, so pytest has no lines for it.
        for note in self._notes() if first and ours else ():
            self._config.get_terminal_writer().line(note)

    def _cells(self) -> list[str]:
        """The ids of the planned cells."""
        return [named.cell for named in cells_in(self._planned, lambda: model_names(self._config)).values()]

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.nodeid not in self._planned:
            return
        self._reported.add(report.nodeid)
        sent = getattr(report, "puma", None)
        if sent is not None:
            self._take(report.nodeid, sent)
            # pytest keeps its reports to the end; the predictions of a long run lie on the disk by now.
            report.puma = None  # type: ignore[attr-defined]
        elif report.when == "call" and report.passed:
            self._silent.add(report.nodeid)

    def _take(self, nodeid: str, sent: str) -> None:
        from pytest_puma.report.folder import RunFolder
        from pytest_puma.report.wire import from_json
        from pytest_puma.session.project import project_root

        outcome = from_json(sent)
        # The predictions of a long run would fill the memory; they lie in the folder.
        self._outcomes[nodeid] = replace(outcome, predictions=())
        if self._folder is None:
            run_id = f"{self._started:%Y%m%dT%H%M%S}-{os.getpid()}"
            self._folder = RunFolder(project_root(self._config), run_id)
        self._folder.add(outcome)
        self._keeper.take(nodeid, outcome)

    # -- the run as a whole ----------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        # An exception (-x, an interrupt) passes by: a run that was cut off is not judged.
        result = yield
        if self._planned and not self._config.option.collectonly:
            not_run = self._not_run()
            problems = self._problems(not_run)
            judged = self._across()
            self._finish((*judged, *not_run), problems)
            for verdict in judged:
                self._report(
                    f"{_RUN}{verdict.gate} ({verdict.reason.partition(':')[0]})", verdict.reason, failed=verdict.fails
                )
            self._report_problems(problems)
        return result

    def _across(self) -> tuple[Verdict, ...]:
        """The verdicts on gates about several cells."""
        from pytest_puma.across import across
        from pytest_puma.session.settings import settings_of

        found = [self._outcomes[nodeid] for nodeid in self._planned if nodeid in self._outcomes]
        return tuple(across(found, settings_of(self._config).policy))

    def pytest_sessionfinish(self) -> None:
        if self._run is None and self._outcomes:
            self._finish((), ())

    def _finish(self, verdicts: tuple[Verdict, ...], problems: tuple[str, ...]) -> None:
        from pytest_puma.compare import compare
        from pytest_puma.core import Run
        from pytest_puma.rates import write_rates
        from pytest_puma.report.emit import emit
        from pytest_puma.robustness import robustness
        from pytest_puma.session.project import project_root
        from pytest_puma.session.settings import settings_of

        settings = settings_of(self._config)
        # In the order of collection: workers report as they finish.
        outcomes = tuple(self._outcomes[nodeid] for nodeid in self._planned if nodeid in self._outcomes)
        self._run = Run(
            id="" if self._folder is None else self._folder.path.name,
            started=self._started.isoformat(timespec="seconds"),
            environment=_environment(),
            outcomes=outcomes,
            verdicts=verdicts,
            problems=problems,
            robustness=robustness(outcomes, settings.registry.perturbations),
            contrasts=compare(outcomes, settings.compare),
        )
        self._told = self._keeper.finish(self._cells()) + emit(self._run, settings.reports)
        if self._folder is not None:
            self._folder.finish(self._run)
            write_rates(
                project_root(self._config), settings.models, self._run.outcomes, day=f"{self._started:%Y-%m-%d}"
            )

    def _problems(self, not_run: Sequence[Verdict]) -> tuple[str, ...]:
        """Why the run must not be green although no test failed."""
        missing = [nodeid for nodeid in self._planned if nodeid not in self._reported or nodeid in self._silent]
        problems = [f"{nodeid} was planned, but no outcome of it arrived" for nodeid in missing]
        # A gate for cells that the user did not ask for is no mistake, one on a metric that nothing has is.
        mistakes = [verdict for verdict in not_run if not is_selected(self._config) or self._unknown(verdict.gate)]
        return (*problems, *(verdict.reason for verdict in mistakes), *self._keeper.problems(self._cells()))

    def _unknown(self, gate: Gate) -> bool:
        """Whether no scenario has the gate's metric."""
        from pytest_puma.metrics import is_metric
        from pytest_puma.session.settings import settings_of

        if gate.word:
            return False
        known = settings_of(self._config).registry.scenarios.values()
        run = (outcome.measures for outcome in self._outcomes.values())
        return not any(is_metric(scenario(), gate.metric) for scenario in known) and not any(
            gate.metric in measures for measures in run
        )

    def _not_run(self) -> tuple[Verdict, ...]:
        """The verdicts on general gates that no cell of this run took."""
        from pytest_puma.gates import applies, not_run
        from pytest_puma.session.settings import settings_of

        if not self._outcomes:
            return ()
        taken = {verdict.gate for outcome in self._outcomes.values() for verdict in outcome.verdicts}
        taken |= {gate for outcome in self._outcomes.values() for gate in outcome.across}
        cells = cells_in(self._planned, lambda: model_names(self._config)).values()
        left = [
            gate
            for gate in settings_of(self._config).gates
            # A cell that never came to a verdict was an error, and is reported as such.
            if gate not in taken
            and (gate.scope is None or not any(applies(gate, each.scenario, each.cell) for each in cells))
        ]
        return tuple(not_run(gate, f"gate {str(gate)!r} fits no cell of this run") for gate in left)

    def _report_problems(self, problems: Sequence[str]) -> None:
        """As a test of its own, which passes where it failed before: then --lf forgets it."""
        cache = getattr(self._config, "cache", None)
        remembered = cache is not None and _PROBLEMS_ID in cache.get("cache/lastfailed", {})
        if problems or remembered:
            self._report(_PROBLEMS_ID, "\n".join(f"puma: {problem}" for problem in problems), failed=bool(problems))

    def _report(self, nodeid: str, text: str, *, failed: bool) -> None:
        """A test that nobody wrote: in the summary, in JUnit XML, in the exit status."""
        report = pytest.TestReport(
            nodeid=nodeid,
            location=("puma", None, "run"),
            keywords={},
            outcome="failed" if failed else "passed",
            longrepr=text if failed else None,
            when="call",
        )
        self._config.hook.pytest_runtest_logreport(report=report)

    # -- the summary -----------------------------------------------------------------------------

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._run is None or not self._run.outcomes:
            return
        from pytest_puma.report import contrasts, robustness
        from pytest_puma.report.terminal import summary

        folder = "" if self._folder is None else os.path.relpath(self._folder.path)
        sections = {
            "puma": [*summary(self._run, folder), *self._flips(), *self._told],
            "puma: perturbations": robustness.lines(self._run.robustness),
            "puma: comparison": contrasts.lines(self._run.contrasts),
        }
        for title, lines in sections.items():
            if lines:
                terminalreporter.section(title)
            for line in lines:
                terminalreporter.write_line(line)

    def _flips(self) -> list[str]:
        from pytest_puma.report.terminal import flips
        from pytest_puma.session.settings import settings_of

        asked = self._run is not None and settings_of(self._config).flips
        return [line for outcome in self._outcomes.values() for line in flips(outcome)] if asked else []


def _is_ours(item: pytest.Item) -> bool:
    return "_puma_cell" in getattr(item, "fixturenames", ())


def _environment() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "pytest": version("pytest"),
        "pytest-puma": version("pytest-puma"),
    }
