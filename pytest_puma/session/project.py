"""Where the project is: the folder of its ini file, with its `prompts/`, `data/` and `.puma/`."""

from __future__ import annotations

from pathlib import Path

import pytest

#: pytest's ini files, the nearest first to count, and what makes each one of them.
_INI_FILES = {
    "pytest.toml": "",
    ".pytest.toml": "",
    "pytest.ini": "",
    ".pytest.ini": "",
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}


def project_root(config: pytest.Config) -> Path:
    """Where the ini file lies, else where pytest was started.

    Not `rootpath`: without an ini file that is the common ancestor of all paths on the command line,
    an absolute `--puma-model` among them.
    """
    return config.inipath.parent if config.inipath is not None else config.invocation_params.dir


def check_root(config: pytest.Config) -> None:
    """Refuse a command line that moves pytest's root, or makes it overlook the project's ini file and the gates in it.

    pytest looks for its root before it knows our options, so a path behind a space counts as a test path.
    """
    here = config.invocation_params.dir
    arguments = config.invocation_params.args
    said = [*(config.option.puma_model or ()), *(config.option.puma_data or ())]
    loose = [value for value in said if value in arguments and Path(value).exists()]
    if loose and not config.option.inifilename and not config.option.rootdir:
        expected = _nearest_ini(here)
        outside = not (here / loose[0]).resolve().is_relative_to(here.resolve())
        fault = ""
        if expected is not None and expected != config.inipath:
            fault = f"does not read {expected}"
        elif expected is None and config.inipath is None and outside:
            fault = f"makes {config.rootpath} its root folder"
        if fault:
            msg = (
                f"puma: pytest takes {loose[0]} for a test path and {fault}; "
                f"write an equals sign: --puma-model={loose[0]}"
            )
            raise pytest.UsageError(msg)


def _nearest_ini(folder: Path) -> Path | None:
    """The ini file that pytest finds from a folder upwards."""
    for place in (folder, *folder.parents):
        for name, section in _INI_FILES.items():
            path = place / name
            if path.is_file() and section in path.read_text(encoding="utf-8", errors="replace"):
                return path
    return None
