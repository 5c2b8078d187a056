"""Paths of reports: what a run may replace, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import DataError, SettingsError
from pytest_puma.planning.reports import FORMATS, PageSettings, ReportFile, parse_reports
from pytest_puma.report.export import emit
from tests.factories import outcome, run


def write(tmp_path: Path, form: str) -> Path:
    """A report of a run."""
    path = tmp_path / f"report.{form}"
    emit(run(outcome("triage-egi@m")), ReportFile(form, path), folder=None, page=PageSettings())
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_an_older_report_an_empty_file_and_a_device_are_replaced(tmp_path: Path, form: str) -> None:
    path = write(tmp_path, form)
    assert parse_reports([f"{form}:{path}", f"{form}:/dev/null"], tmp_path)[0] == ReportFile(form, path)
    assert write(tmp_path, form).read_bytes()
    empty = tmp_path / "summary"
    empty.touch()
    assert parse_reports([f"{form}:summary"], tmp_path) == (ReportFile(form, empty),)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("test_m.py", b"def test_m(puma):\n    pass\n"),
        ("data.csv", b"id,text,label\n1,No invoice came.,Major\n"),
        ("responses.sqlite", b"SQLite format 3\0" + b"\0" * 9000),
        ("pytest.ini", b"[pytest]\n"),
        ("baseline.json", b'{"format": 2,\n "scenario": "triage_jira"}'),
    ],
)
def test_a_file_that_is_no_report_is_refused(tmp_path: Path, form: str, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=f"{name} exists and is no {form} report of pytest-puma, so it is not over"):
        parse_reports([f"{form}:{name}"], tmp_path)
    with pytest.raises(DataError, match="is not overwritten"):
        emit(run(), ReportFile(form, path), folder=None, page=PageSettings())
    assert path.read_bytes() == content
