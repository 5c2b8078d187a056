"""Which report files to write, as data: `--puma-report json:PATH | html:PATH | ... | junit-props`; see `FORMATS`.

A new format is one module with a function of a `Run`, and one line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from pytest_puma.core import SettingsError
from pytest_puma.platform.files import obstacle
from pytest_puma.platform.installation import install_extra
from pytest_puma.platform.user_path import user_path

Texts: TypeAlias = Literal["all", "none"]
#: Whether the page shows prompts and replies.
TEXTS: tuple[Texts, ...] = get_args(Texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings:
    """The size of the HTML page in `megabytes`, None for any, and whether it shows the `texts` of samples."""

    megabytes: float | None = 10
    texts: Texts = "all"


@dataclass(frozen=True, slots=True)
class Format:
    """A format by its writer: the function of a module that takes a `Run` and returns the content of the file.

    `mark`: a text near the beginning or the end of each such file. `of_samples`: the function also takes the run
    folder, which has the predictions, and `PageSettings`.
    """

    writer: str
    mark: bytes
    of_samples: bool = False


FORMATS: Mapping[str, Format] = {
    "json": Format("pytest_puma.runs.run_folder:as_json", b'{\n "format": '),
    "csv": Format("pytest_puma.report.export:as_csv", b"cell,scenario,strategy,perturbation,model,metric,value"),
    "md": Format("pytest_puma.report.markdown:as_markdown", b"### puma: "),
    "parquet": Format("pytest_puma.report.export:as_parquet", b"perturbation"),
    "profiles": Format("pytest_puma.report.profiles:as_profiles", b'"trial_id": 0,\n   "params": ', of_samples=True),
    "html": Format("pytest_puma.report.page.page:as_page", b'name="generator" content="pytest-puma"', of_samples=True),
}
#: Bytes at both ends of a file in which its mark is.
_ENDS = 4096
#: The one format without a file of its own.
JUNIT = "junit-props"


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file to write, in one of the `FORMATS`."""

    format: str
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """The files to write, the settings of HTML pages, and whether JUnit XML gets properties."""

    files: tuple[ReportFile, ...] = ()
    page: PageSettings = field(default_factory=PageSettings)
    junit: bool = False


def parse_reports(values: Iterable[str], folder: Path) -> tuple[ReportFile, ...]:
    """Return the requested files, relative paths in `folder`; a `SettingsError` names a file that cannot be written."""
    reports = tuple(dict.fromkeys(_parse(value, folder) for value in values if value != JUNIT))
    paths = [report.path for report in reports]
    doubled = next((path for path in paths if paths.count(path) > 1), None)
    if doubled is not None:
        msg = f"--puma-report: two formats for {doubled}, of which one would overwrite the other; name two files"
        raise SettingsError(msg)
    return reports


def foreign(report: ReportFile) -> str:
    """Return the reason why a file must not be overwritten; empty if it is missing, empty, or an older such report.

    Test files, data, the store and any other file of the user have another content.
    """
    try:
        size = report.path.stat().st_size if report.path.is_file() else 0
        if not size or FORMATS[report.format].mark in _ends_of(report.path, size):
            return ""
    except OSError as error:
        return f"{report.path} cannot be read ({error.strerror})"
    return f"{report.path} exists and is no {report.format} report of pytest-puma, so it is not overwritten"


def _ends_of(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        start = file.read(_ENDS)
        file.seek(max(0, size - _ENDS))
        return start + file.read(_ENDS)


def _parse(value: str, folder: Path) -> ReportFile:
    name, _, file = value.partition(":")
    if name not in FORMATS or not file:
        expected = ", ".join([*(f"{name}:PATH" for name in FORMATS), JUNIT])
        msg = f"--puma-report {value!r}: expected one of {expected}"
        raise SettingsError(msg)
    if name == "parquet" and find_spec("pyarrow") is None:
        msg = f"--puma-report {value!r}: Parquet files need pyarrow: {install_extra('parquet')}"
        raise SettingsError(msg)
    path = folder / user_path(file, where=f"--puma-report {value!r}")
    report = ReportFile(name, path)
    reason = obstacle(path) or foreign(report)
    if reason:
        msg = f"--puma-report {value!r}: {reason}; expected the path of a file that can be written"
        raise SettingsError(msg)
    return report
