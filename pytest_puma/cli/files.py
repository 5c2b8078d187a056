"""`pytest-puma report` and `pytest-puma export`: a run as a file, an HTML page or a table for other programs."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_puma.cli.console import add_command, show
from pytest_puma.cli.project import RUN_HELP, add_project, older_of, run_of
from pytest_puma.core import DataError
from pytest_puma.errors import check_limits
from pytest_puma.phrases import counted
from pytest_puma.planning.reports import TEXTS, PageSettings
from pytest_puma.platform.user_path import user_path
from pytest_puma.report.export import WRITERS, export


def declare(commands: Any) -> None:
    """Declare both commands."""
    text = "Write a run as one HTML file, with its samples as far as their predictions are kept."
    page = add_command(commands, "report", _report, "the HTML page of a run", description=text)
    _add_files(page, "such as report.html")
    page.add_argument("--against", metavar="RUN", help="mark the changes since this run (default: its baseline)")
    size = page.add_mutually_exclusive_group()
    size.add_argument("--all", action="store_true", help="leave out no text, whatever the size")
    size.add_argument("--mb", type=float, default=PageSettings().megabytes, metavar="N", help="size (default: 10 MB)")
    page.add_argument("--texts", choices=TEXTS, default="all", help="whether to show prompts and replies")
    add_project(page, baselines=True)
    text = "Write the measures of a run, a row for each."
    table = add_command(commands, "export", _export, "a run for other programs", description=text)
    _add_files(table, ", ".join(WRITERS))
    table.add_argument("--predictions", action="store_true", help="write the predictions instead, with their texts")
    add_project(table)


def _add_files(parser: argparse.ArgumentParser, formats: str) -> None:
    parser.add_argument("name", metavar="RUN", help=RUN_HELP)
    parser.add_argument("-o", "--output", required=True, type=user_path, metavar="FILE", help=formats)


def _report(options: argparse.Namespace) -> None:
    from pytest_puma.codec.plain import storable
    from pytest_puma.platform.files import write_whole
    from pytest_puma.report.page.changes import against_run
    from pytest_puma.report.page.page import as_page
    from pytest_puma.runs.comparison import compare

    check_limits({"--mb": (options.mb, 1, math.inf)})
    row, past = run_of(options.name, options)
    against = None
    if options.against is not None:
        older = older_of(options.against, options, row)
        against = against_run(compare(past.run.outcomes, past.answered, older, name=f"run {row.number}"))
    settings = PageSettings(megabytes=None if options.all else options.mb, texts=options.texts)
    text = as_page(replace(past.run, number=row.number), past.folder, settings, against=against)
    with writing(options.output):
        write_whole(options.output, storable(text))
    show(options.output.absolute().as_uri())


def _export(options: argparse.Namespace) -> None:
    from pytest_puma.report.export import COLUMNS, measure_rows
    from pytest_puma.runs.loaded import PREDICTION_COLUMNS, load_run

    _, past = run_of(options.name, options)
    with writing(options.output), warnings.catch_warnings(record=True) as left_out:
        warnings.simplefilter("always", UserWarning)
        if options.predictions:
            count = export(options.output, PREDICTION_COLUMNS, load_run(past.folder).rows())
        else:
            count = export(options.output, COLUMNS, measure_rows(past.run))
    show(f"{options.output}: {counted(count, 'row')}", *(f"warning: {warning.message}" for warning in left_out))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name a file that cannot be written in a `DataError`."""
    try:
        yield
    except OSError as error:
        msg = f"-o {path}: cannot be written ({error.strerror})"
        raise DataError(msg) from error
