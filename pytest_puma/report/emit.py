"""Write the requested report files."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name

from pytest_puma.codec.plain import storable
from pytest_puma.core import DataError, Run
from pytest_puma.planning.reports import FORMATS, PageSettings, ReportFile, foreign
from pytest_puma.platform.files import write_whole


def emit(run: Run, report: ReportFile, *, folder: Path | None, page: PageSettings) -> str:
    """Write a file; return a line on it. `folder`: that of the run, None if it has none.

    A `DataError` refuses to overwrite any other file.
    """
    form = FORMATS[report.format]
    if reason := foreign(report):  # the run itself may have written it, such as the store
        msg = f"--puma-report {report.format}:{report.path}: {reason}"
        raise DataError(msg)
    write = resolve_name(form.writer)
    content: str | bytes = write(run, folder, page) if form.of_samples else write(run)
    # A text of data or of a test may have half of a character.
    write_whole(report.path, content if isinstance(content, bytes) else storable(content))
    return f"report: {report.path.absolute().as_uri() if form.of_samples else report.path}"
