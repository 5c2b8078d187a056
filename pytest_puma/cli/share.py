"""`pytest-puma share`: a run as one file that another person can check.

pytest-puma share last -o run.zip
pytest-puma share --verify run.zip

The file is a ZIP archive of `run.json`, `predictions.jsonl` and `report.html`. Its comment is the SHA-256 of all bytes
before it, so that no byte can change unnoticed; whoever makes another file has another digest.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pytest_puma.cli.console import add_command, show
from pytest_puma.cli.files import writing
from pytest_puma.cli.project import RUN_HELP, add_project, run_of
from pytest_puma.core import DataError, Outcome, PumaError, Run, SettingsError
from pytest_puma.phrases import counted, named
from pytest_puma.planning.reports import TEXTS, PageSettings, Texts
from pytest_puma.platform.user_path import user_path
from pytest_puma.runs.past_run import PastRun
from pytest_puma.runs.run_order import PREDICTIONS, RECORD

_PAGE = "report.html"
_DIGEST = re.compile(rb"[0-9a-f]{64}")
#: Bytes of the files of an archive, which are unpacked for the check.
_MAX_SIZE = 1 << 32
_TOLERANCE = 1e-9
_NAMED = 5


def declare(commands: Any) -> None:
    """Declare the command."""
    text = (
        "Write a run into one file, with its answers and its page; or check such a file, and compute its numbers again."
    )
    parser = add_command(commands, "share", _share, "a run as one file that others can check", description=text)
    parser.add_argument("name", nargs="?", metavar="RUN", help=RUN_HELP)
    parser.add_argument("-o", "--output", type=user_path, metavar="FILE", help="such as run.zip")
    parser.add_argument("--texts", choices=TEXTS, default="all", help="none: without prompts, replies and answers")
    parser.add_argument("--verify", type=user_path, metavar="FILE", help="check a file that this command wrote")
    add_project(parser)


def _share(options: argparse.Namespace) -> None:
    if options.verify is not None:
        if options.name is not None or options.output is not None:
            msg = "share --verify takes a file alone; expected no RUN and no -o"
            raise SettingsError(msg)
        _verify(options.verify)
        return
    if options.name is None or options.output is None:
        msg = "share needs a run and a file: pytest-puma share last -o run.zip; or a file to check: --verify FILE"
        raise SettingsError(msg)
    row, past = run_of(options.name, options)
    data = packed(replace(past.run, number=row.number), past, texts=options.texts)
    with writing(options.output):
        options.output.write_bytes(data)
    show(
        f"{options.output}: run {row.number}, {counted(len(past.run.outcomes), 'cell')}, {len(data) / 1e6:.1f} MB",
        "with the prompts and replies" if options.texts == "all" else "without prompts, replies and answers",
        f"SHA-256 {data[-64:].decode()}: tell it to whoever gets the file, by another way than the file",
        f"they check it with: pytest-puma share --verify {options.output.name}",
    )


def packed(run: Run, past: PastRun, *, texts: Texts) -> bytes:
    """Return the archive of a run; a `DataError` if its predictions cannot be shared."""
    from pytest_puma.report.page.page import as_page

    files = {_PAGE: as_page(run, past.folder, PageSettings(megabytes=None, texts=texts), against=None).encode()}
    if texts == "all":
        if not past.file.path.is_file():
            msg = f"run {run.number} has no predictions any more (puma_keep_runs); share its numbers: --texts none"
            raise DataError(msg)
        if any(cell.head.prompts is None for cell in past.file.cells):
            msg = "the run keeps no prompts (puma_keep_prompts): its texts are private; share its numbers: --texts none"
            raise DataError(msg)
        files |= {name: (past.folder / name).read_bytes() for name in (RECORD, PREDICTIONS)}
    else:
        outcomes = [outcome | {"flips": []} for outcome in past.record["outcomes"]]
        files[RECORD] = json.dumps(past.record | {"outcomes": outcomes}, ensure_ascii=False, indent=1).encode()
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.comment = bytes(64)
    data = stream.getvalue()[:-64]
    return data + sha256(data).hexdigest().encode()


def _verify(file: Path) -> None:
    """Check the digest of a file, then its numbers."""
    try:
        data = file.read_bytes()
    except OSError as error:
        msg = f"--verify {file}: cannot be read ({error.strerror})"
        raise DataError(msg) from error
    if not _DIGEST.fullmatch(data[-64:]) or not zipfile.is_zipfile(BytesIO(data)):
        msg = f"{file}: does not end in a digest; expected a file that pytest-puma share wrote, as it was written"
        raise DataError(msg)
    digest = sha256(data[:-64]).hexdigest()
    if digest != data[-64:].decode():
        msg = f"{file}: was changed after it was written: its SHA-256 is {digest}, it says {data[-64:].decode()}"
        raise DataError(msg)
    with TemporaryDirectory() as folder, zipfile.ZipFile(BytesIO(data)) as archive:
        names = {RECORD, PREDICTIONS, _PAGE} & set(archive.namelist())
        if sum(archive.getinfo(name).file_size for name in names) > _MAX_SIZE:
            msg = f"{file}: has more than {_MAX_SIZE >> 30} GB when unpacked"
            raise DataError(msg)
        archive.extractall(folder, names)
        lines = list(_checked(PastRun(Path(folder), who=f"{file}: "), file))
    show(
        f"{file}: not a byte was changed since it was written",
        f"SHA-256 {digest}: compare it with the sender's",
        *lines,
    )


def _checked(past: PastRun, file: Path) -> Iterator[str]:
    """Yield sentences on the run and its numbers; a `DataError` for a number that its answers do not have."""
    run = past.run
    commit = f", {run.invocation.revision}" if run.invocation.revision else ""
    yield f"run {run.id}{commit}: {counted(len(run.outcomes), 'cell')}"
    if not past.file.path.is_file():
        yield "it has no answers (--texts none), so its numbers cannot be computed again"
        return
    equal, left = 0, dict[str, None]()
    for outcome in run.outcomes:
        again = _again(past.answered(outcome))
        for name, measure in outcome.measures.items():
            if name not in again:
                left[name] = None
                continue
            if not _same(measure.value, again[name]):
                msg = f"{file}: {outcome.cell}: {name} is {measure.value:g}, and the answers give {again[name]:g}"
                raise DataError(msg)
            equal += 1
    yield f"{counted(equal, 'number')} computed again from the answers, without a model: all are equal"
    if left:
        yield f"not computed again, as they need the clock or the scenario: {named(left, _NAMED)}"


def _again(outcome: Outcome) -> dict[str, float]:
    """The metrics that follow from the predictions of a cell."""
    from pytest_puma.analysis.remeasure import scored_by_task
    from pytest_puma.metrics import source_of

    names = [name for name in outcome.measures if source_of(name) != "clock"]
    try:
        values = scored_by_task(outcome.task, outcome.predictions, seed=0).values(names)
    except PumaError:  # a metric whose package is not installed here
        return {}
    return {name: measure.value for name, measure in values.items()}


def _same(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
