"""`pytest-puma report`: the HTML page of a run of the project."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from typing import Any

from pytest_puma.cli.console import add_command, show
from pytest_puma.cli.project import RUN_HELP, add_project, older_of, run_of
from pytest_puma.core import DataError
from pytest_puma.errors import check_limits
from pytest_puma.planning.reports import TEXTS, PageSettings
from pytest_puma.platform.user_path import user_path


def declare(commands: Any) -> None:
    """Declare the command."""
    text = "Write a run as one HTML file, with its samples as far as their predictions are kept."
    parser = add_command(commands, "report", _report, "the HTML page of a run", description=text)
    parser.add_argument("name", metavar="RUN", help=RUN_HELP)
    parser.add_argument("-o", "--output", required=True, type=user_path, metavar="FILE", help="such as report.html")
    parser.add_argument("--against", metavar="RUN", help="mark the changes since this run (default: its baseline)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--all", action="store_true", help="leave out no text, whatever the size")
    size.add_argument("--mb", type=float, default=PageSettings().megabytes, metavar="N", help="size (default: 10 MB)")
    parser.add_argument("--texts", choices=TEXTS, default="all", help="whether to show prompts and replies")
    add_project(parser, baselines=True)


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
    try:
        write_whole(options.output, storable(text))
    except OSError as error:
        msg = f"-o {options.output}: cannot be written ({error.strerror})"
        raise DataError(msg) from error
    show(options.output.absolute().as_uri())
