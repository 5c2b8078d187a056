"""The project whose runs a command reads, its runs by name, and the older side of a comparison."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from contextlib import closing
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_puma.core import DataError, Outcome, SettingsError
from pytest_puma.phrases import there_are
from pytest_puma.platform.files import write_together
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.platform.user_path import user_path
from pytest_puma.runs.index import History
from pytest_puma.runs.names import find_run, run_in_project
from pytest_puma.runs.past_run import PastRun
from pytest_puma.runs.rows import RunRow
from pytest_puma.session.settings.project import ini_file, ini_values

if TYPE_CHECKING:
    from pytest_puma.runs.past_run import Older

RUN_HELP = "a number, a name or its beginning, last, last~2, a commit, or a branch (its newest clean run)"
#: The argument that means the stored baselines.
BASELINE = "baseline"


def add_project(parser: argparse.ArgumentParser, *, baselines: bool = False) -> None:
    """Declare the option `--project`, and `--baselines` for a command that compares."""
    if baselines:
        where = "the baselines (default: those of the project's ini file)"
        parser.add_argument("--baselines", type=user_path, metavar="FOLDER", help=where)
    parser.add_argument(
        "--project",
        metavar="FOLDER",
        type=user_path,
        help="the folder with .puma (default: this folder, or the nearest one above that has runs)",
    )


def project_of(options: argparse.Namespace) -> Path:
    """Return the folder of the project; a `DataError` if it has no runs."""
    here = Path.cwd()
    given: Path | None = options.project
    for folder in [here, *here.parents] if given is None else [given]:
        if runs_of(folder).is_dir():
            return folder
    msg = f"found no runs in {runs_of(given or Path())}; run a benchmark first, or name the project: --project FOLDER"
    raise DataError(msg)


def history_of(options: argparse.Namespace) -> closing[History]:
    """Open the history of the project, for a `with` statement."""
    return closing(History(project_of(options)))


def ini_here(folder: Path, purpose: str) -> Path | None:
    """Return the ini file of the project in a folder, None if it has none; a `SettingsError` in a folder below.

    `purpose`: of the files that a command writes here, for the error.
    """
    ini = ini_file(folder)
    if ini is not None and ini.parent != folder:
        msg = (
            f"this folder is a part of the project of {ini}, where pytest looks for {purpose}; run this in {ini.parent}"
        )
        raise SettingsError(msg)
    return ini


def write_new(files: Mapping[Path, str], remedy: str) -> None:
    """Write all files or none; a `SettingsError` names one that exists, with the `remedy`, or the reason."""
    if existing := [path for path in files if path.exists() or path.is_symlink()]:
        msg = f"{existing[0]} exists, and nothing is overwritten; {remedy}"
        raise SettingsError(msg)
    try:
        write_together(files)
    except (OSError, UnicodeEncodeError) as error:
        msg = f"nothing is written: {error}"
        raise SettingsError(msg) from error


def matching(pattern: str, cells: Iterable[str]) -> list[str]:
    """Return the cells that the option `--cells` means; a `DataError` if there are none."""
    cells = list(dict.fromkeys(cells))
    found = [cell for cell in cells if fnmatchcase(cell, pattern)]
    if not found:
        msg = f"--cells {pattern!r}: matches no cell; {there_are(pattern, cells)}"
        raise DataError(msg)
    return found


def cell_of(text: str, options: argparse.Namespace) -> tuple[RunRow, PastRun, Outcome]:
    """Return the cell that an argument names, with its run: that of `RUN:CELL`, of `CELL` the newest that has it.

    A `DataError` names similar runs, or similar cells.
    """
    run, _, cell = text.rpartition(":")
    with history_of(options) as history:
        rows = history.runs()
        if run:
            rows = [find_run(run, rows, history.unfinished())]
        row = next((row for row in rows if cell in history.cells(row.number)), None)
        cells = history.cells(rows[0].number if run else None)
    if row is None:
        where = f"run {rows[0].number} does not have" if run else "no finished run has"
        msg = f"{text}: {where} this cell; {there_are(cell, cells)}"
        raise DataError(msg)
    past = _past(row, options)
    # Of several tests with one cell, the last one counts, as in the index.
    return row, past, next(outcome for outcome in reversed(past.run.outcomes) if outcome.cell == cell)


def run_of(text: str, options: argparse.Namespace, *, newer: RunRow | None = None) -> tuple[RunRow, PastRun]:
    """Return the run that an argument names, for a comparison with a `newer` one."""
    row = run_in_project(text, project_of(options), newer=newer)
    return row, _past(row, options)


def _past(row: RunRow, options: argparse.Namespace) -> PastRun:
    return PastRun(runs_of(project_of(options)) / row.name)


def older_of(text: str, options: argparse.Namespace, newer: RunRow) -> Older:
    """Return the run that an argument names, another one than `newer`, or the baselines of the project."""
    from pytest_puma.baseline.folder import Baselines
    from pytest_puma.planning.settings import BASELINES
    from pytest_puma.runs.past_run import Older

    if text != BASELINE:
        row, past = run_of(text, options, newer=newer)
        return Older.of_run(f"run {row.number}", past)
    project = project_of(options)
    folder: Path = options.baselines or project / user_path(ini_values(project).get("puma_baselines") or BASELINES)
    if not folder.is_dir():
        msg = (
            f"compare baseline: no folder {folder}; create it with pytest --puma-update-baseline, "
            "or give --baselines FOLDER"
        )
        raise DataError(msg)
    return Older.of_baselines(Baselines(folder))
