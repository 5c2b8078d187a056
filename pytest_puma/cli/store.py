"""`pytest-puma store`: the response store of a project."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tabulate import tabulate

from pytest_puma.cli.console import add_command, show
from pytest_puma.core import CellId, DataError
from pytest_puma.phrases import counted, named
from pytest_puma.planning.storage import MEGABYTES, RESPONSES
from pytest_puma.platform.user_path import user_path
from pytest_puma.responses import merging, upkeep
from pytest_puma.responses.database import ResponseStore
from pytest_puma.responses.recipe import DIGITS, changes
from pytest_puma.responses.schema import saving

_SAVE = f"rename it; {saving('FILE')}"


def declare(commands: Any) -> None:
    """Declare the command and its parts."""
    parser = commands.add_parser("store", help="the kept answers: info, why, merge, prune, clear, export")
    parser.add_argument(
        "--store",
        metavar="PATH",
        type=user_path,
        help=f"the file (default: {RESPONSES} in this folder, or in the nearest one above that has it)",
    )
    parts = parser.add_subparsers(dest="part", required=True, metavar="PART")
    add_command(parts, "info", _info, "size, runs and cells")
    differing = "which answers of a cell are kept, and in what its engines and settings differ"
    why = add_command(parts, "why", _why, differing)
    why.add_argument("cell", metavar="CELL", help="as in test ids: triage_jira-zero_shot@qwen")
    merge = add_command(parts, "merge", _merge, "add the answers of other stores, as those of shards, to this one")
    merge.add_argument("files", metavar="FILE", nargs="+", type=user_path, help="a response store")
    pruning = add_command(parts, "prune", _prune, "remove the answers that were used longest ago")
    pruning.add_argument(
        "--mb", type=int, default=MEGABYTES, metavar="N", help=f"size to prune to, in megabytes (default: {MEGABYTES})"
    )
    add_command(parts, "clear", _clear, "remove all answers")
    add_command(parts, "export", _export, "write all answers as JSON Lines")


def _path(options: argparse.Namespace) -> Path:
    """The file of the store, which must exist."""
    given: Path | None = options.store
    here = Path.cwd()
    stores = (folder / RESPONSES for folder in (here, *here.parents))
    path = given or next((store for store in stores if store.is_file()), RESPONSES)
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
        cells = upkeep.cells(store)
        answers = counted(sum(kept.answers for kept in cells), "answer")
        counts = f"{answers} of {counted(len(cells), 'cell')}, from {counted(upkeep.runs(store), 'run')}"
        show(f"{store.path}: {size:.1f} MB, {counts}")
        rows = [(kept.cell.common_name, f"{kept.answers:,}", _weights(kept), kept.run) for kept in cells]
        show(tabulate(rows, headers=["cell", "answers", "weights", "last run"], disable_numparse=True))


def _why(options: argparse.Namespace) -> None:
    with _reader(options) as store:
        every = upkeep.cells(store)
        cells = [kept for kept in every if kept.cell == CellId.parse(options.cell)]
        if not cells:
            names = named(dict.fromkeys(kept.cell.common_name for kept in every))
            msg = f"no answers of {options.cell} are kept; there are answers of: {names}"
            raise DataError(msg)
        now, *_ = parts = [{**kept.scope.parts, "engine": kept.scope.engine.signature} for kept in cells]
        for kept, then in zip(cells, parts, strict=True):
            show(f"{counted(kept.answers, 'answer')}, used last by run {kept.run}, weights {_weights(kept)}")
            show(*(f"  {sentence}" for sentence in changes(then, now, read=False)))


def _weights(kept: upkeep.KeptCell) -> str:
    return kept.scope.engine.weights[:DIGITS]


def _merge(options: argparse.Namespace) -> None:
    path: Path = options.store or RESPONSES
    if missing := [file for file in options.files if not file.is_file()]:
        msg = f"found no response store {named(map(str, missing))}; nothing was merged"
        raise DataError(msg)
    for file in options.files:
        if file.absolute() == path.absolute():
            msg = f"{file} is the store that is written; expected others"
            raise DataError(msg)
        merged = merging.merge(path, file)
        known = f", {merged.known:,} were there" if merged.known else ""
        differing = f", {merged.differing:,} of these with another content, which stays" if merged.differing else ""
        damaged = f", {merged.damaged:,} left out as they are damaged" if merged.damaged else ""
        show(f"{file}: {counted(merged.added, 'answer')} added to {path}{known}{differing}{damaged}")


def _prune(options: argparse.Namespace) -> None:
    if options.mb < 1:
        msg = f"--mb is {options.mb}; expected a whole number of megabytes, at least 1"
        raise DataError(msg)
    path = _path(options)
    try:
        pruned = upkeep.prune(path, options.mb * 2**20)
    except sqlite3.DatabaseError as error:
        save = "" if isinstance(error, sqlite3.OperationalError) else f"; {_SAVE}"
        msg = f"{path} cannot be pruned: {error}{save}"
        raise DataError(msg) from error
    removed = f"{counted(pruned.answers, 'answer')} of {counted(pruned.cells, 'cell')}"
    show(f"removed {removed}; the store has {pruned.size / 2**20:.1f} MB")


def _clear(options: argparse.Namespace) -> None:
    path = _path(options)
    for suffix in ("-wal", "-shm", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    show(f"removed {path}")


def _export(options: argparse.Namespace) -> None:
    with _reader(options) as store:
        for line in upkeep.lines(store):
            sys.stdout.write(f"{line}\n")
