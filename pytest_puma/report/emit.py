"""Write the requested report files."""

from __future__ import annotations

from collections.abc import Iterable
from pkgutil import resolve_name

from pytest_puma.core import Run
from pytest_puma.core.atomic import write_whole
from pytest_puma.planning.reports import FORMATS, ReportFile
from pytest_puma.store.serialize import storable


def emit(run: Run, reports: Iterable[ReportFile]) -> list[str]:
    """Write all files; return a line for each."""
    return [_emit(run, report) for report in reports]


def _emit(run: Run, report: ReportFile) -> str:
    content: str | bytes = resolve_name(FORMATS[report.format])(run)
    # A text of data or of a test may have half of a character.
    write_whole(report.path, content if isinstance(content, bytes) else storable(content))
    return f"report: {report.path}"
