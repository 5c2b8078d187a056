"""`pytest-puma export`: the measures or the predictions of a run, for other programs."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from pytest_puma.cli.console import add_command, show
from pytest_puma.cli.project import RUN_HELP, add_project, run_of
from pytest_puma.core import DataError
from pytest_puma.phrases import counted
from pytest_puma.platform.user_path import user_path
from pytest_puma.report.files import WRITERS, export
from pytest_puma.report.measures import COLUMNS, measure_rows
from pytest_puma.runs.loaded import PREDICTION_COLUMNS, load_run


def declare(commands: Any) -> None:
    """Declare the command."""
    text = "Write the measures of a run, a row for each."
    parser = add_command(commands, "export", _export, "a run for other programs", description=text)
    parser.add_argument("name", metavar="RUN", help=RUN_HELP)
    parser.add_argument("-o", "--output", required=True, type=user_path, metavar="FILE", help=f"{', '.join(WRITERS)}")
    parser.add_argument("--predictions", action="store_true", help="write the predictions instead, with their texts")
    add_project(parser)


def _export(options: argparse.Namespace) -> None:
    _, past = run_of(options.name, options)
    left_out: list[warnings.WarningMessage] = []
    try:
        if options.predictions:
            with warnings.catch_warnings(record=True) as left_out:
                warnings.simplefilter("always", UserWarning)
                count = export(options.output, PREDICTION_COLUMNS, load_run(past.folder).rows())
        else:
            count = export(options.output, COLUMNS, measure_rows(past.run))
    except OSError as error:
        msg = f"-o {options.output}: cannot be written ({error.strerror})"
        raise DataError(msg) from error
    show(f"{options.output}: {counted(count, 'row')}", *(f"warning: {warning.message}" for warning in left_out))
