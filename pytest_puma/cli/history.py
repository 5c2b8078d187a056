"""`pytest-puma list`, `show`, `trend` and `compare`: the runs of a project, one, a metric over all of them, and two."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from heapq import merge
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from pytest_puma.cli.console import add_command, show, show_section, width
from pytest_puma.cli.project import BASELINE, RUN_HELP, add_project, cell_of, history_of, matching, older_of, run_of
from pytest_puma.codec.plain import plain
from pytest_puma.core import DataError
from pytest_puma.phrases import counted, there_are
from pytest_puma.report import history as report

if TYPE_CHECKING:
    from pytest_puma.core import Outcome
    from pytest_puma.runs.comparison import RunComparison

_LISTED, _SHOWN = 30, 30
#: Every cell has it in its name, and no run.
_MODEL = "@"
_FORMATS = ("text", "md", "json")
_ON_CHANGES = (
    "intervals of changes are for independent samples, so they are too wide if both runs have the same samples;",
    "pytest-puma compare RUN RUN compares two runs sample by sample",
)


def declare(commands: Any) -> None:
    """Declare the four commands."""
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
    text = "Compare the answers of run B with those of the older run A, with paired tests. It judges no gate."
    comparing = add_command(commands, "compare", _compare, "two runs, sample by sample", description=text)
    comparing.add_argument("old", metavar="A", help=f"{RUN_HELP}; or baseline; or CELL, or RUN:CELL")
    comparing.add_argument("new", metavar="B", help="a run, or a cell, as A")
    comparing.add_argument("--cells", default="*", metavar="PATTERN", help="such as '*few_shot*' (default: all)")
    comparing.add_argument("--flips", action="store_true", help="show the answers that are better or worse")
    comparing.add_argument("--format", choices=_FORMATS, default="text", help="of the output (default: text)")
    add_project(comparing, baselines=True)


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
    revision = row.invocation.revision
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


def _compare(options: argparse.Namespace) -> None:
    from pytest_puma.codec.plain import plain
    from pytest_puma.report.comparison import comparison_lines
    from pytest_puma.report.markdown import comparison_as_markdown

    of_cells = _MODEL in f"{options.old}{options.new}"
    result = _compared_cells(options) if of_cells else _compared_runs(options)
    if options.format == "json":
        sys.stdout.write(json.dumps(plain(result), allow_nan=False, indent=1) + "\n")
    elif options.format == "md":
        sys.stdout.write(comparison_as_markdown(result, flips=options.flips))
    else:
        show(*comparison_lines(result, width(), flips=options.flips))


def _compared_cells(options: argparse.Namespace) -> RunComparison:
    """Compare two cells of any runs."""
    from pytest_puma.runs.comparison import compare
    from pytest_puma.runs.past_run import Older

    for name, text in (("A", options.old), ("B", options.new)):
        if _MODEL not in text:
            msg = f"compare: {name} is {text!r}, and the other one a cell; expected two cells, or two runs"
            raise DataError(msg)
    old_row, old_past, old = cell_of(options.old, options)
    row, past, new = cell_of(options.new, options)
    if (old_row.name, old.cell) == (row.name, new.cell):
        changes = f"pytest-puma compare 'last~1:{new.cell}' 'last:{new.cell}'"
        msg = f"compare: A and B are the same cell of run {row.number}; for its changes: {changes}"
        raise DataError(msg)
    if old.name.scenario != new.name.scenario and _asked(old) != _asked(new):
        msg = (
            f"compare: {old.cell} and {new.cell} are about other samples: they have another task, or other data; "
            "expected two cells of one scenario, or of scenarios on one file"
        )
        raise DataError(msg)
    older = Older.of_run(f"run {old_row.number}", old_past).of_cell(old.cell, against=new.cell)
    return compare([new], past.answered, older, name=f"{new.cell} of run {row.number}")


def _asked(outcome: Outcome) -> object:
    """What decides whether equal ids of samples of two scenarios mean equal samples; without a file, nothing does."""
    data = outcome.execution.signature.get("data")
    return (outcome.task, data["sha256"]) if data else outcome.name.scenario


def _compared_runs(options: argparse.Namespace) -> RunComparison:
    from pytest_puma.runs.comparison import compare

    if options.new == BASELINE:
        msg = "compare: B is 'baseline'; expected a run: pytest-puma compare baseline RUN"
        raise DataError(msg)
    row, past = run_of(options.new, options)
    old = older_of(options.old, options, row)
    matching(options.cells, [*(outcome.cell for outcome in past.run.outcomes), *old.cells])
    return compare(past.run.outcomes, past.answered, old, name=f"run {row.number}", pattern=options.cells)
