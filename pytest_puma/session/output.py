"""What a run leaves on the disk: its folder, the reports and baselines that were asked for, the rates of its models.

What cannot be written is a problem of the run, and never ends it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_puma.session.config import settings_of
from pytest_puma.session.project import project_root

if TYPE_CHECKING:
    from pytest_puma.core import Outcome, Run
    from pytest_puma.store.run_folder import RunFolder


class Output:
    """Of one run, in the process that sees every report."""

    def __init__(self, config: pytest.Config, started: datetime) -> None:
        self._config = config
        self._root = project_root(config)
        self._started = started
        self._folder: RunFolder | None = None
        self._faults: dict[str, None] = {}

    @property
    def folder(self) -> Path | None:
        """The run folder; None where nothing was computed or went wrong, or where it could not be made."""
        return None if self._folder is None else self._folder.path

    def open(self) -> RunFolder | None:
        """Make the run folder, unless it is there; None where it cannot be made."""
        from pytest_puma.store.run_folder import RunFolder

        with self._survives("the run folder .puma"):
            if self._folder is None:
                self._folder = RunFolder(self._root, f"{self._started:%Y%m%dT%H%M%S}-{os.getpid()}")
        return self._folder

    def add(self, outcome: Outcome) -> None:
        """Write the predictions of a cell, as a run may be cut off."""
        folder = self.open()
        if folder is not None:
            with self._survives("the run folder .puma"):
                folder.add(outcome)

    def finish(self, run: Run, keep_baselines: Callable[[], list[str]]) -> tuple[Run, list[str]]:
        """Write everything, `run.json` first; the run with the problems that this had, and a sentence for each file."""
        from pytest_puma.report.emit import emit
        from pytest_puma.store.throughput import write_throughput

        settings = settings_of(self._config)
        run = self._record(run)
        told: list[str] = []
        with self._survives("a baseline"):
            told += keep_baselines()
        run = self._with_faults(run)
        for report in settings.reports:
            with self._survives(f"--puma-report {report.format}:{report.path}"):
                told += emit(run, [report])
        with self._survives("the speed of the models"):
            write_throughput(self._root, settings.models, run.outcomes, day=f"{self._started:%Y-%m-%d}")
        return self._record(run), told

    def _record(self, run: Run) -> Run:
        """The run with what could not be written up to now, as it stands in `run.json`."""
        with self._survives("the run folder .puma"):
            run = self._with_faults(run)
            if self._folder is not None:
                self._folder.finish(run)
        return self._with_faults(run)

    def _with_faults(self, run: Run) -> Run:
        return replace(run, problems=tuple(dict.fromkeys((*run.problems, *self._faults))))

    @contextmanager
    def _survives(self, what: str) -> Iterator[None]:
        from pytest_puma.core import PumaError

        try:
            yield
        except OSError as error:
            self._faults[f"{what} cannot be written: {error}"] = None
        except PumaError as error:
            self._faults[str(error)] = None
