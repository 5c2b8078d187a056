"""`pytest-puma list`, `show` and `trend`: the runs of a project, one of them, and a metric over all of them."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from heapq import merge
from operator import attrgetter
from typing import Any

from pytest_puma.cli.console import add_command, show, show_section, width
from pytest_puma.cli.project import RUN_HELP, add_project, history_of, matching, run_of
from pytest_puma.codec.plain import plain
from pytest_puma.core import DataError
from pytest_puma.phrases import counted, there_are
from pytest_puma.report import history as report

_LISTED, _SHOWN = 30, 30
_ON_CHANGES = (
    "intervals of changes are for independent samples, so they are too wide if both runs have the same samples;",
    "pytest-puma compare RUN RUN compares two runs sample by sample",
)


def declare(commands: Any) -> None:
    """Declare the three commands."""
    listing = add_command(
        commands, "list", _list, "the runs of the project", description="List the runs of the project."
    )
    listing.add_argument("--json", action="store_true", help="write all runs as JSON")
    listing.add_argument("--last", type=int, default=_LISTED, metavar="N", help=f"the newest N (default: {_LISTED})")
    showing = add_command(commands, "show", _show, "the tables of a run", description="Show the tables of a run again.")
    showing.add_argument("name", metavar="RUN", help=RUN_HELP)
    changes = "Show a metric in each run, and its change to the run before."
    trend = add_command(commands, "trend", _trend, "a metric in each run", description=changes)
    trend.add_argument("--cells", default="*", metavar="PATTERN", help="such as 'triage*' (default: all)")
    trend.add_argument("--metric", metavar="NAME", help="such as f1_macro (default: the primary one of each cell)")
    trend.add_argument("--last", type=int, default=_SHOWN, metavar="N", help=f"the newest N runs (default: {_SHOWN})")
    for parser in (listing, showing, trend):
        add_project(parser)


def _list(options: argparse.Namespace) -> None:
    _check_last(options)
    with history_of(options) as history:
        rows = list(merge(history.runs(), history.unfinished(), key=attrgetter("name"), reverse=True))
    if options.json:
        sys.stdout.write(json.dumps([plain(asdict(row)) for row in rows], indent=1) + "\n")
        return
    show(*report.runs(rows[: options.last], width()))
    if len(rows) > options.last:
        show(f"{counted(len(rows) - options.last, 'older run')}; --last {len(rows)} shows all")


def _show(options: argparse.Namespace) -> None:
    from pytest_puma.report import robustness
    from pytest_puma.report.comparison import contrast_lines
    from pytest_puma.report.terminal import summary

    row, past = run_of(options.name, options)
    run = past.run
    folder = os.path.relpath(past.folder) if past.file.path.exists() else ""
    revision = report.commit(row)
    show(f"run {row.number} ({row.name}){f', {revision}' if revision else ''}, {report.when(row)} UTC")
    show_section("puma", summary(run, folder, width()))
    show_section("puma: perturbations", robustness.lines(run, width()))
    show_section("puma: comparison", contrast_lines(run.contrasts, width()))


def _trend(options: argparse.Namespace) -> None:
    from pytest_puma.runs.rows import steps

    _check_last(options)
    with history_of(options) as history:
        cells = matching(options.cells, history.cells())
        tables = [
            report.trend(cell, metric, list(steps(rows)), width())
            for cell in cells
            if (metric := options.metric or next(iter(history.metrics(cell)), ""))
            and (rows := history.trend(cell, metric, last=options.last))
        ]
        if not tables:
            names = {name for cell in cells for name in history.metrics(cell)}
            msg = f"--metric {options.metric!r}: no such metric; {there_are(options.metric or '', sorted(names))}"
            raise DataError(msg)
    for lines in tables:
        show(*lines, "")
    show(*_ON_CHANGES)


def _check_last(options: argparse.Namespace) -> None:
    if options.last < 1:
        msg = f"--last is {options.last}; expected a whole number, at least 1"
        raise DataError(msg)
