"""The run that `--puma-rescore` means: a folder with predictions, or a name of a run on a command line (`names`)."""

from __future__ import annotations

from pathlib import Path

from pytest_puma.core import DataError
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.names import run_in_project
from pytest_puma.runs.recorded_run import RecordedRun, find_run, run_in
from pytest_puma.runs.run_folder import PREDICTIONS


def find_recorded(text: str, root: Path, here: Path) -> RecordedRun:
    """Return the run of the project in `root` that a text means; a path is one from `here`.

    Folders come first: a run that was cut off has no number. A `DataError` names similar runs.
    """
    if (run := find_run(text, runs_of(root), here)) is not None:
        return run
    try:
        name = run_in_project(text, root).name
    except DataError as error:
        msg = f"found no {PREDICTIONS} in a folder of this name; {error}"
        raise DataError(msg) from error
    return run_in(runs_of(root) / name)
