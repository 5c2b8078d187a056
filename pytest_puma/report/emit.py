"""Reports in files: which the user asked for, and the writing of them.

json:PATH | csv:PATH | md:PATH | junit-props
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.core import Run, SettingsError
from pytest_puma.files import obstacle
from pytest_puma.report.markdown import as_markdown
from pytest_puma.report.record import as_json
from pytest_puma.report.sheet import as_csv

FORMATS: Mapping[str, Callable[[Run], str]] = {"json": as_json, "csv": as_csv, "md": as_markdown}
#: The one format that has no file of its own.
JUNIT = "junit-props"


@dataclass(frozen=True, slots=True)
class Report:
    """A file to write."""

    format: str
    path: Path


def parse_reports(said: Iterable[str], folder: Path) -> tuple[Report, ...]:
    """The files that were asked for, relative ones in a folder; a `SettingsError` for what cannot be written."""
    reports = tuple(dict.fromkeys(_parse(text, folder) for text in said if text != JUNIT))
    paths = [report.path for report in reports]
    doubled = next((path for path in paths if paths.count(path) > 1), None)
    if doubled is not None:
        msg = f"--puma-report: two formats for {doubled}, of which one would overwrite the other; name two files"
        raise SettingsError(msg)
    return reports


def _parse(text: str, folder: Path) -> Report:
    kind, colon, place = text.partition(":")
    if kind not in FORMATS or not colon or not place:
        known = ", ".join([*(f"{name}:PATH" for name in FORMATS), JUNIT])
        msg = f"--puma-report {text!r}: expected one of {known}"
        raise SettingsError(msg)
    path = folder / Path(place).expanduser()
    found = obstacle(path)
    if found:
        msg = f"--puma-report {text!r}: {found}; expected the path of a file that can be written"
        raise SettingsError(msg)
    return Report(kind, path)


def emit(run: Run, reports: Iterable[Report]) -> list[str]:
    """Write them all; a sentence for each."""
    return [_emit(run, report) for report in reports]


def _emit(run: Run, report: Report) -> str:
    text = FORMATS[report.format](run)
    report.path.parent.mkdir(parents=True, exist_ok=True)
    report.path.write_text(text, encoding="utf-8")
    return f"report: {report.path}"
