"""The folder `.puma` of a project: run folders, their order and their index, responses, throughput.

It has texts of your data, so it is made for its owner alone, folders with the mode 0700 and files with 0600; a mode
that you change afterwards stays. Its own `.gitignore` keeps it out of version control. It may be a link itself. Links
in it are refused, as a folder from elsewhere could make a run write to any file of its user.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from pytest_puma.platform.files import PRIVATE, regular, write_whole

_NAME = ".puma"
#: The mode of folders.
MODE = 0o700


def project_folder(root: Path) -> Path:
    """Return the folder of a project, made if it is missing. Raises an `OSError`."""
    return make_private(root / _NAME)


def make_private(folder: Path) -> Path:
    """Make a folder for its owner alone if it is missing: `.puma`, or that of a response store elsewhere."""
    folder.mkdir(MODE, parents=True, exist_ok=True)
    ignored = folder / ".gitignore"
    if folder.name == _NAME and not os.path.lexists(ignored):
        write_whole(ignored, "*\n", mode=PRIVATE)
    return folder


def runs_of(root: Path) -> Path:
    """Return the path of the folder with the run folders of a project, which may be missing."""
    return root / _NAME / "runs"


def make_runs(root: Path) -> Path:
    """Return the folder with the run folders of a project, made if it is missing. Raises an `OSError`."""
    project_folder(root)
    runs = runs_of(root)
    if runs.is_symlink():
        raise OSError(errno.EINVAL, "a link in place of a folder; remove it", str(runs))
    runs.mkdir(MODE, exist_ok=True)
    return runs


def throughput_of(root: Path) -> Path:
    """Return the path of the file with the throughput of the project's models, which may be missing.

    An `OSError` refuses a link.
    """
    return regular(root / _NAME / "throughput.json", links=False)


def responses_of(root: Path) -> Path:
    """Return the path of the response store of a project, which may be missing."""
    return root / _NAME / "responses.sqlite"
