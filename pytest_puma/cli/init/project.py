"""The project that gets a benchmark: its ini file, and files that are new."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_puma.core import SettingsError
from pytest_puma.platform.atomic import write_together
from pytest_puma.session.settings.project import ini_file

TEST_FOLDER = "benchmarks"
_INI = """testpaths = benchmarks
# Your model, in place of the bundled demonstration model:
# puma_models = models/NAME.gguf
"""
_TOML = """testpaths = ["benchmarks"]
# Your model, in place of the bundled demonstration model:
# puma_models = ["models/NAME.gguf"]
"""


def project_here(folder: Path) -> Path | None:
    """Return the ini file of the project in a folder, None if it has none; a `SettingsError` in a folder below."""
    ini = ini_file(folder)
    if ini is not None and ini.parent != folder:
        msg = f"this folder is a part of the project of {ini}, where pytest looks for prompts; run this in {ini.parent}"
        raise SettingsError(msg)
    return ini


def ini_lines(ini: Path, *, new: bool) -> str:
    """Return the lines for an ini file, with the header of the section if it is `new`."""
    if ini.suffix == ".toml":
        return _TOML
    return f"[pytest]\n{_INI}" if new else _INI


def write_new(files: Mapping[Path, str]) -> None:
    """Write all files or none; a `SettingsError` names one that exists, or the reason."""
    if there := [path for path in files if path.exists() or path.is_symlink()]:
        msg = f"{there[0]} exists, and nothing is overwritten; choose another name: --name NAME, or remove the file"
        raise SettingsError(msg)
    try:
        write_together(files)
    except (OSError, UnicodeEncodeError) as error:
        msg = f"nothing is written: {error}"
        raise SettingsError(msg) from error
