"""Write the requested report files."""

from __future__ import annotations

from collections.abc import Iterable
from pkgutil import resolve_name

from pytest_puma.core import Run
from pytest_puma.planning.reports import FORMATS, ReportFile


def emit(run: Run, reports: Iterable[ReportFile]) -> list[str]:
    """Write all files; return a line for each."""
    return [_emit(run, report) for report in reports]


def _emit(run: Run, report: ReportFile) -> str:
    text = resolve_name(FORMATS[report.format])(run)
    report.path.parent.mkdir(parents=True, exist_ok=True)
    report.path.write_text(text, encoding="utf-8")
    return f"report: {report.path}"
