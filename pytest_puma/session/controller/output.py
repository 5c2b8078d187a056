"""Files of a run: its folder, the requested reports and baselines, and the throughput of its models.

A file that cannot be written is a problem of the run, and never ends it. Without a run folder, as in a checkout that
can only be read, the run keeps nothing and is judged by its gates.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import Outcome, PumaError, Run
from pytest_puma.planning.settings import Settings
from pytest_puma.platform.files import obstacle
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.report.export import emit
from pytest_puma.runs.index import History
from pytest_puma.runs.names import next_comparison
from pytest_puma.runs.run_folder import RunFolder
from pytest_puma.runs.run_order import prune
from pytest_puma.runs.throughput import write_throughput
from pytest_puma.session.settings.project import project_root
from pytest_puma.session.workers.xdist import run_id


class Output:
    """The files of a run, written by the process that receives every report.

    `unwritable`: why there is no run folder, as far as it shows before the run; empty if there is none.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._settings = settings
        self._root = project_root(config)
        self._name, self._started = run_id(config)
        self._folder: RunFolder | None = None
        self.unwritable = obstacle(runs_of(self._root) / self._name / "any")
        self._lines: list[str] = []
        self._faults: dict[str, None] = {}
        #: How to compare this run with the one before it; empty until the end, and without one.
        self.comparison = ""

    @property
    def folder(self) -> Path | None:
        """The run folder; None if no cell ran or failed, or if the folder could not be created."""
        return None if self._folder is None else self._folder.path

    def open(self) -> RunFolder | None:
        """Create the run folder if it does not exist; return None if that fails."""
        if self._folder is None and not self.unwritable:
            try:
                self._folder = RunFolder(self._root, self._name, keep_prompts=self._settings.storage.prompts)
            except OSError as error:
                self.unwritable = str(error)
                self._lines.append(f"the run keeps nothing: {error}")
        return self._folder

    def add(self, outcome: Outcome) -> None:
        """Write the predictions of a cell at once, as the run may be interrupted."""
        folder = self.open()
        if folder is not None:
            with self.survives(f"the predictions of {outcome.cell}"):
                folder.add(outcome)

    def finish(self, run: Run, update_baselines: Callable[[], list[str]]) -> tuple[Run, list[str]]:
        """Write all files, `run.json` first; return the run with any problems, and a line for each file."""
        settings = self._settings
        run, lines = self._numbered(self._record(run))
        lines += self._lines
        with self.survives("a baseline"):
            lines += update_baselines()
        run = self._with_faults(run)
        for report in settings.reports.files:
            with self.survives(f"--puma-report {report.format}:{report.path}"):
                lines.append(emit(run, report, folder=self.folder, page=settings.reports.page))
        if self._folder is not None:
            with self.survives("the throughput of the models"):
                write_throughput(self._root, settings.request.models, run.outcomes, day=f"{self._started:%Y-%m-%d}")
        run = self._record(run)
        if self._folder is not None:
            lines += self._prune(self._folder)
            self._folder.close()
        return run, lines

    def _numbered(self, run: Run) -> tuple[Run, list[str]]:
        """Give the run its number in the history, which can be made again later: without one, the run goes on."""
        if self._folder is None:
            return run, []
        try:
            with closing(History(self._root, in_memory=False)) as history:
                rows = history.runs()
                number = next((row.number for row in rows if row.name == run.id), None)
                older = next((row for row in rows if row.name != run.id), None)
                if older is not None and number is not None:
                    commands = [older.invocation.words, run.invocation.words]
                    self.comparison = next_comparison(history.cells(number), history.cells(older.number), commands)
                return replace(run, number=number), []
        except (OSError, sqlite3.Error) as error:
            return run, [f"the history cannot be written, and the run has no number: {error}"]

    def _prune(self, folder: RunFolder) -> list[str]:
        """Remove the predictions of older runs; return a line on them. Those that cannot be removed are no problem."""
        rescored, keep = self._settings.request.rescored, self._settings.storage.runs
        protected = [folder.path, *([] if rescored is None else [rescored.path.parent])]
        pruned = prune(self._root, keep=keep, protected=protected)
        removed = f"removed the predictions of {pruned.runs} older runs ({pruned.size / 1e6:.1f} MB)"
        lines = [removed] if pruned.runs else []
        lines += [f"an older run keeps its predictions: {fault}" for fault in pruned.faults]
        return [f"puma_keep_runs = {keep}: {line}" for line in lines]

    def _record(self, run: Run) -> Run:
        """Write `run.json` and return the run, with the problems of writing up to now."""
        with self.survives("the run folder .puma"):
            run = self._with_faults(run)
            if self._folder is not None:
                self._folder.finish(run)
        return self._with_faults(run)

    def _with_faults(self, run: Run) -> Run:
        return replace(run, problems=tuple(dict.fromkeys((*run.problems, *self._faults))))

    @contextmanager
    def survives(self, what: str) -> Iterator[None]:
        """Make an error of the block a problem of the run; `what` cannot be written if it is one of the system."""
        try:
            yield
        except OSError as error:
            self._faults[f"{what} cannot be written: {error}"] = None
        except PumaError as error:
            self._faults[str(error)] = None
