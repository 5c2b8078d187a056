"""`pytest-puma store`: the response store of a project."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tabulate import tabulate

from pytest_puma.cli.output import show
from pytest_puma.core import CellId, DataError
from pytest_puma.planning.storage import MEGABYTES, RESPONSES
from pytest_puma.platform.user_path import user_path
from pytest_puma.report.rows import counted
from pytest_puma.responses import contents
from pytest_puma.responses.changes import changes
from pytest_puma.responses.database import ResponseStore
from pytest_puma.responses.place import saving
from pytest_puma.responses.recipe import DIGITS
from pytest_puma.responses.upkeep import prune

_SAVE = f"rename it; {saving('FILE')}"


def add_command(commands: Any) -> None:
    """Declare the command and its parts."""
    parser = commands.add_parser("store", help="the kept answers: info, why, prune, clear, export")
    parser.add_argument(
        "--store",
        metavar="PATH",
        type=user_path,
        help=f"the file (default: {RESPONSES} in this folder, or in the nearest one above that has it)",
    )
    parts = parser.add_subparsers(dest="part", required=True, metavar="PART")
    _part(parts, "info", _info, "size, runs and cells")
    why = _part(parts, "why", _why, "which answers of a cell are kept, and in what its engines and settings differ")
    why.add_argument("cell", metavar="CELL", help="as in test ids: triage_jira-zero_shot@qwen")
    pruning = _part(parts, "prune", _prune, "remove the answers that were used longest ago")
    pruning.add_argument(
        "--mb", type=int, default=MEGABYTES, metavar="N", help=f"size to prune to, in megabytes (default: {MEGABYTES})"
    )
    _part(parts, "clear", _clear, "remove all answers")
    _part(parts, "export", _export, "write all answers as JSON Lines")


def _part(parts: Any, name: str, run: Callable[[argparse.Namespace], None], text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = parts.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(run=run)
    return parser


def _path(options: argparse.Namespace) -> Path:
    """The file of the store, which must exist."""
    given: Path | None = options.store
    here = Path.cwd()
    path = given or next(
        (each / RESPONSES for each in (here, *here.parents) if (each / RESPONSES).is_file()), RESPONSES
    )
    if not path.is_file():
        msg = f"found no response store {path}; run a benchmark first, or name the file: --store PATH"
        raise DataError(msg)
    return path


@contextmanager
def _reader(options: argparse.Namespace) -> Iterator[ResponseStore]:
    """Read the store; a `DataError` if it cannot be opened, or if a part of it is damaged."""
    with closing(ResponseStore(_path(options), readonly=True)) as store:
        if store.connection is None:
            raise DataError("; ".join(store.take_notes()))
        try:
            yield store
        finally:
            if notes := store.take_notes():
                raise DataError("; ".join([*notes, _SAVE]))


def _info(options: argparse.Namespace) -> None:
    with _reader(options) as store:
        size = store.path.stat().st_size / 2**20
        cells = contents.cells(store)
        answers = counted(sum(each.answers for each in cells), "answer")
        counts = f"{answers} of {counted(len(cells), 'cell')}, from {counted(contents.runs(store), 'run')}"
        show(f"{store.path}: {size:.1f} MB, {counts}")
        rows = [
            (each.cell.common_name, f"{each.answers:,}", each.scope.engine.weights[:DIGITS], each.run) for each in cells
        ]
        show(tabulate(rows, headers=["cell", "answers", "weights", "last run"], disable_numparse=True))


def _why(options: argparse.Namespace) -> None:
    with _reader(options) as store:
        cells = contents.cells_of(store, CellId.parse(options.cell))
        if not cells:
            there = ", ".join(dict.fromkeys(each.cell.common_name for each in contents.cells(store))) or "none"
            msg = f"no answers of {options.cell} are kept; there are answers of: {there}"
            raise DataError(msg)
        newest = cells[0]
        for each in cells:
            weights = each.scope.engine.weights[:DIGITS]
            show(f"{counted(each.answers, 'answer')}, used last by run {each.run}, weights {weights}")
            if each is not newest:
                now = {**newest.scope.parts, "engine": newest.scope.engine.signature}
                then = {**each.scope.parts, "engine": each.scope.engine.signature}
                for sentence in changes(then, now, read=False):
                    show(f"  {sentence}")


def _prune(options: argparse.Namespace) -> None:
    if options.mb < 1:
        msg = f"--mb is {options.mb}; expected a whole number of megabytes, at least 1"
        raise DataError(msg)
    path = _path(options)
    try:
        pruned = prune(path, options.mb * 2**20)
    except sqlite3.OperationalError as error:
        msg = f"{path} cannot be pruned: {error}"
        raise DataError(msg) from error
    except sqlite3.DatabaseError as error:
        msg = f"{path} cannot be pruned: {error}; {_SAVE}"
        raise DataError(msg) from error
    gone = f"{counted(pruned.answers, 'answer')} of {counted(pruned.cells, 'cell')}"
    show(f"removed {gone}; the store has {pruned.size / 2**20:.1f} MB")


def _clear(options: argparse.Namespace) -> None:
    path = _path(options)
    for suffix in ("-wal", "-shm", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    show(f"removed {path}")


def _export(options: argparse.Namespace) -> None:
    with _reader(options) as store:
        for line in contents.lines(store):
            sys.stdout.write(f"{line}\n")
