"""The older side of a comparison, as an argument: an earlier run, or the stored baselines."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_puma.cli.project import project_of, run_of
from pytest_puma.core import DataError
from pytest_puma.platform.user_path import user_path

if TYPE_CHECKING:
    from pytest_puma.runs.older import Older
    from pytest_puma.runs.rows import RunRow

BASELINE = "baseline"


def add_baselines(parser: argparse.ArgumentParser) -> None:
    """Declare the option `--baselines`."""
    parser.add_argument(
        "--baselines", type=user_path, metavar="FOLDER", help="the baselines (default: those of the project's ini file)"
    )


def older_of(text: str, options: argparse.Namespace, newer: RunRow) -> Older:
    """Return the run that an argument names, another one than `newer`, or the baselines of the project."""
    from pytest_puma.baseline import Baselines
    from pytest_puma.runs.older import OlderBaselines, OlderRun
    from pytest_puma.session.settings.config import BASELINES
    from pytest_puma.session.settings.project import ini_values

    if text != BASELINE:
        row, past = run_of(text, options, newer=newer)
        return OlderRun(f"run {row.number}", past)
    project = project_of(options)
    folder: Path = options.baselines or project / user_path(ini_values(project).get("puma_baselines") or BASELINES)
    if not folder.is_dir():
        msg = (
            f"compare baseline: no folder {folder}; create it with pytest --puma-update-baseline, "
            "or give --baselines FOLDER"
        )
        raise DataError(msg)
    return OlderBaselines(Baselines(folder))
