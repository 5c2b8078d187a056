"""The project folder: that of the ini file, with `prompts/`, `data/` and `.puma/`."""

from __future__ import annotations

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
    return _setup_in(folder)[1]


def ini_values(folder: Path) -> dict[str, Any]:
    """Return the values of this file by key, as they are written: texts, or in TOML also lists."""
    return {key: each.value for key, each in _setup_in(folder)[2].items()}


def _setup_in(folder: Path) -> tuple[Path, Path | None, Any]:
    from _pytest.config.findpaths import determine_setup

    root, ini, values, *_ = determine_setup(
        inifile=None, override_ini=None, args=[], rootdir_cmd_arg=None, invocation_dir=folder
    )
    return root, ini, values


def check_root(config: pytest.Config) -> None:
    """Refuse a command line that moves pytest's root, or hides the ini file of the project and the gates in it.

    pytest determines its root before it knows the options of plugins, so an existing path after a space counts as a
    test path.
    """
    loose = [path for path in config.option.puma_model or () if path in config.invocation_params.args]
    taken = next((path for path in loose if Path(path).exists()), None)
    if taken is None:
        return
    root, ini = _intended(config)
    fault = ""
    if ini != config.inipath:
        fault = f"does not read {ini}" if ini is not None else f"reads {config.inipath}"
    elif root != config.rootpath:
        fault = f"makes {config.rootpath} its root folder"
    if fault:
        import pytest

        msg = f"puma: pytest takes {taken} for a test path and {fault}; write an equals sign: --puma-model={taken}"
        raise pytest.UsageError(msg)


def _intended(config: pytest.Config) -> tuple[Path, Path | None]:
    """Return the root and the ini file that pytest finds if it knows which arguments are test paths."""
    # The search has exceptions for setup.py and for a pyproject.toml without a section: a copy of it would be wrong.
    from _pytest.config.findpaths import determine_setup

    root, ini, *_ = determine_setup(
        inifile=config.option.inifilename,
        override_ini=None,
        args=config.known_args_namespace.file_or_dir,
        rootdir_cmd_arg=config.option.rootdir,
        invocation_dir=config.invocation_params.dir,
    )
    return root, ini
