"""The run that `--puma-rescore` means: a folder with predictions, or a name of a run on a command line (`names`)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from pytest_puma.core import DataError
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs import names
from pytest_puma.runs.index import History
from pytest_puma.runs.recorded_run import RecordedRun, find_run, run_in
from pytest_puma.runs.rows import RunRow
from pytest_puma.runs.run_folder import PREDICTIONS


def find_recorded(text: str, root: Path, here: Path) -> RecordedRun:
    """Return the run of the project in `root` that a text means; a path is one from `here`.

    Folders come first: a run that was cut off has no number. A `DataError` names similar runs.
    """
    runs = runs_of(root)
    return find_run(text, runs, here) or run_in(runs / _finished(text, root).name)


def _finished(text: str, root: Path) -> RunRow:
    """Return the finished run that a text means."""
    finished: list[RunRow] = []
    if runs_of(root).is_dir():
        with closing(History(root)) as history:
            finished = history.runs()
    try:
        return names.find_run(text, finished)
    except DataError as error:
        msg = f"found no {PREDICTIONS} in a folder of this name; {error}"
        raise DataError(msg) from error
