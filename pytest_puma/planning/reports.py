"""Which report files to write, as data: `--puma-report json:PATH | html:PATH | ... | junit-props`; see `FORMATS`.

A new format is one module with a function of a `Run`, and one line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from pytest_puma.core import SettingsError
from pytest_puma.core.atomic import obstacle
from pytest_puma.core.user_path import user_path

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

    `of_samples`: the function also takes the run folder, which has the predictions, and `PageSettings`.
    """

    writer: str
    of_samples: bool = False


FORMATS: Mapping[str, Format] = {
    "json": Format("pytest_puma.store.record:as_json"),
    "csv": Format("pytest_puma.report.csv:as_csv"),
    "md": Format("pytest_puma.report.markdown:as_markdown"),
    "parquet": Format("pytest_puma.report.parquet:as_parquet"),
    "html": Format("pytest_puma.report.page.page:as_page", of_samples=True),
}
#: The one format without a file of its own.
JUNIT = "junit-props"


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file to write, in one of the `FORMATS`."""

    format: str
    path: Path


def parse_reports(values: Iterable[str], folder: Path) -> tuple[ReportFile, ...]:
    """Return the requested files, relative paths in `folder`; a `SettingsError` names a file that cannot be written."""
    reports = tuple(dict.fromkeys(_parse(value, folder) for value in values if value != JUNIT))
    paths = [report.path for report in reports]
    doubled = next((path for path in paths if paths.count(path) > 1), None)
    if doubled is not None:
        msg = f"--puma-report: two formats for {doubled}, of which one would overwrite the other; name two files"
        raise SettingsError(msg)
    return reports


def _parse(value: str, folder: Path) -> ReportFile:
    name, colon, place = value.partition(":")
    if name not in FORMATS or not colon or not place:
        expected = ", ".join([*(f"{each}:PATH" for each in FORMATS), JUNIT])
        msg = f"--puma-report {value!r}: expected one of {expected}"
        raise SettingsError(msg)
    if name == "parquet" and find_spec("pyarrow") is None:
        msg = f"--puma-report {value!r}: Parquet files need pyarrow: pip install 'pytest-puma[parquet]'"
        raise SettingsError(msg)
    path = folder / user_path(place, where=f"--puma-report {value!r}")
    reason = obstacle(path)
    if reason:
        msg = f"--puma-report {value!r}: {reason}; expected the path of a file that can be written"
        raise SettingsError(msg)
    return ReportFile(name, path)
