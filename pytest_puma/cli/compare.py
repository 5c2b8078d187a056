"""`pytest-puma compare`: two runs of a project, cell by cell and sample by sample."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from pytest_puma.cli.console import add_command, show, width
from pytest_puma.cli.project import BASELINE, RUN_HELP, add_project, matching, older_of, run_of, run_with
from pytest_puma.core import DataError

if TYPE_CHECKING:
    from pytest_puma.runs.comparison import RunComparison

#: Every cell has it in its name, and no run.
_MODEL = "@"
_FORMATS = ("text", "md", "json")


def declare(commands: Any) -> None:
    """Declare the command."""
    text = "Compare the answers of run B with those of the older run A, with paired tests. It judges no gate."
    parser = add_command(commands, "compare", _compare, "two runs, sample by sample", description=text)
    parser.add_argument("old", metavar="A", help=f"{RUN_HELP}; or baseline; or a cell")
    parser.add_argument("new", metavar="B", help="a run, or a cell, as A")
    parser.add_argument("--cells", default="*", metavar="PATTERN", help="such as '*few_shot*' (default: all)")
    parser.add_argument("--flips", action="store_true", help="show the answers that are better or worse")
    parser.add_argument("--format", choices=_FORMATS, default="text", help="of the output (default: text)")
    add_project(parser, baselines=True)


def _compare(options: argparse.Namespace) -> None:
    from pytest_puma.codec.plain import plain
    from pytest_puma.report.comparison import comparison_lines
    from pytest_puma.report.markdown import comparison_as_markdown

    result = _cells(options) if _MODEL in options.new else _runs(options)
    if options.format == "json":
        sys.stdout.write(json.dumps(plain(result), allow_nan=False, indent=1) + "\n")
    elif options.format == "md":
        sys.stdout.write(comparison_as_markdown(result, flips=options.flips))
    else:
        show(*comparison_lines(result, width(), flips=options.flips))


def _cells(options: argparse.Namespace) -> RunComparison:
    """Compare two cells, each of the newest run that has it."""
    from pytest_puma.runs.comparison import compare
    from pytest_puma.runs.past_run import Older

    if _MODEL not in options.old:
        msg = f"compare: A is {options.old!r}, and B a cell; expected two cells, or two runs"
        raise DataError(msg)
    row, past = run_with(options.new, options)
    old_row, old_past = run_with(options.old, options)
    older = Older.of_run(f"run {old_row.number}", old_past).of_cell(options.old, against=options.new)
    name = f"{options.new} of run {row.number}"
    return compare(past.run.outcomes, past.answered, older, name=name, pattern=options.new)


def _runs(options: argparse.Namespace) -> RunComparison:
    from pytest_puma.runs.comparison import compare

    if options.new == BASELINE:
        msg = "compare: B is 'baseline'; expected a run: pytest-puma compare baseline RUN"
        raise DataError(msg)
    row, past = run_of(options.new, options)
    old = older_of(options.old, options, row)
    matching(options.cells, [*(outcome.cell for outcome in past.run.outcomes), *old.cells])
    return compare(past.run.outcomes, past.answered, old, name=f"run {row.number}", pattern=options.cells)
