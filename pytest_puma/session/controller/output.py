"""Files of a run: its folder, the requested reports and baselines, and the throughput of its models.

A file that cannot be written is a problem of the run, and never ends it. Without a run folder, as in a checkout that
can only be read, the run keeps nothing and is judged by its gates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_puma.session.settings.config import settings_of
from pytest_puma.session.settings.project import project_root
from pytest_puma.session.settings.run_id import run_id

if TYPE_CHECKING:
    from pytest_puma.core import Outcome, Run
    from pytest_puma.runs.run_folder import RunFolder


class Output:
    """The files of a run, written by the process that receives every report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._root = project_root(config)
        self._name, self._started = run_id(config)
        self._folder: RunFolder | None = None
        self._unkept = ""
        self._faults: dict[str, None] = {}
        #: How to compare this run with the one before it; empty until the end, and without one.
        self.comparison = ""

    @property
    def folder(self) -> Path | None:
        """The run folder; None if no cell ran or failed, or if the folder could not be created."""
        return None if self._folder is None else self._folder.path

    @cached_property
    def unwritable(self) -> str:
        """The reason why there will be no run folder, as far as it shows before the run; empty if there is none."""
        from pytest_puma.platform.files import obstacle
        from pytest_puma.platform.project_folder import runs_of

        return obstacle(runs_of(self._root) / self._name / "any")

    def open(self) -> RunFolder | None:
        """Create the run folder if it does not exist; return None if that fails."""
        from pytest_puma.runs.run_folder import RunFolder

        if self._folder is None and not self.unwritable and not self._unkept:
            keep_prompts = settings_of(self._config).storage.prompts
            try:
                self._folder = RunFolder(self._root, self._name, keep_prompts=keep_prompts)
            except OSError as error:
                self._unkept = f"the run keeps nothing: {error}"
        return self._folder

    def add(self, outcome: Outcome) -> None:
        """Write the predictions of a cell at once, as the run may be interrupted."""
        folder = self.open()
        if folder is not None:
            with self.survives(f"the predictions of {outcome.cell}"):
                folder.add(outcome)

    def finish(self, run: Run, update_baselines: Callable[[], list[str]]) -> tuple[Run, list[str]]:
        """Write all files, `run.json` first; return the run with any problems, and a line for each file."""
        from pytest_puma.report.export import emit
        from pytest_puma.runs.throughput import write_throughput

        settings = settings_of(self._config)
        run = self._record(run)
        run, lines = self._numbered(run)
        lines += [self._unkept] if self._unkept else []
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
        import sqlite3
        from contextlib import closing

        from pytest_puma.runs.index import History
        from pytest_puma.runs.names import next_comparison

        try:
            with closing(History(self._root, in_memory=False)) as history:
                rows = history.runs()
                number = next((row.number for row in rows if row.name == run.id), None)
                older = next((row.number for row in rows if row.name != run.id), None)
                if older is not None and number is not None:
                    self.comparison = next_comparison(history.cells(number), history.cells(older))
                return replace(run, number=number), []
        except (OSError, sqlite3.Error) as error:
            return run, [f"the history cannot be written, and the run has no number: {error}"]

    def _prune(self, folder: RunFolder) -> list[str]:
        """Remove the predictions of older runs; return a line on them. Those that cannot be removed are no problem."""
        from pytest_puma.runs.run_order import prune

        settings = settings_of(self._config)
        protected = (
            [folder.path] if settings.request.rescored is None else [folder.path, settings.request.rescored.path.parent]
        )
        pruned = prune(self._root, keep=settings.storage.runs, protected=protected)
        removed = f"removed the predictions of {pruned.runs} older runs ({pruned.size / 1e6:.1f} MB)"
        lines = [removed] if pruned.runs else []
        lines += [f"an older run keeps its predictions: {fault}" for fault in pruned.faults]
        return [f"puma_keep_runs = {settings.storage.runs}: {line}" for line in lines]

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
        from pytest_puma.core import PumaError

        try:
            yield
        except OSError as error:
            self._faults[f"{what} cannot be written: {error}"] = None
        except PumaError as error:
            self._faults[str(error)] = None
