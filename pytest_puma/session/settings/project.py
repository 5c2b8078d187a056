"""The project folder: that of the ini file, with `prompts/`, `data/` and `.puma/`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Commands that need the folder alone do not wait for pytest.
if TYPE_CHECKING:
    import pytest


def project_root(config: pytest.Config) -> Path:
    """Return the folder of the ini file, without one the folder in which pytest was started.

    Not `rootpath`: without an ini file that is the common ancestor of all paths on the command line, such as an
    absolute `--puma-model`.
    """
    return config.inipath.parent if config.inipath is not None else config.invocation_params.dir


def ini_file(folder: Path) -> Path | None:
    """Return the ini file that pytest finds if it starts in a folder."""
    return _setup(folder)[1]


def ini_values(folder: Path) -> dict[str, Any]:
    """Return the values of this file by key, as they are written: texts, or in TOML also lists."""
    return {key: entry.value for key, entry in _setup(folder)[2].items()}


def _setup(
    folder: Path, *, ini: str | None = None, paths: Sequence[str] = (), root: str | None = None
) -> tuple[Path, Path | None, Any]:
    """Return the root, the ini file and its values as pytest finds them."""
    # The search has exceptions for setup.py and for a pyproject.toml without a section: a copy of it would be wrong.
    from _pytest.config.findpaths import determine_setup

    found, inipath, values, *_ = determine_setup(
        inifile=ini, override_ini=None, args=paths, rootdir_cmd_arg=root, invocation_dir=folder
    )
    return found, inipath, values


def check_root(config: pytest.Config) -> None:
    """Refuse a command line that moves pytest's root, or hides the ini file of the project and the gates in it.

    pytest determines its root before it knows the options of plugins, so an existing path after a space counts as a
    test path.
    """
    loose = [path for path in config.option.puma_model or () if path in config.invocation_params.args]
    taken = next((path for path in loose if Path(path).exists()), None)
    if taken is None:
        return
    given = config.option.inifilename, config.known_args_namespace.file_or_dir, config.option.rootdir
    root, ini, _ = _setup(config.invocation_params.dir, ini=given[0], paths=given[1], root=given[2])
    fault = ""
    if ini != config.inipath:
        fault = f"does not read {ini}" if ini is not None else f"reads {config.inipath}"
    elif root != config.rootpath:
        fault = f"makes {config.rootpath} its root folder"
    if fault:
        import pytest

        msg = f"puma: pytest takes {taken} for a test path and {fault}; write an equals sign: --puma-model={taken}"
        raise pytest.UsageError(msg)
